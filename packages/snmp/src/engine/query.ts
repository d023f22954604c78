import { encodeCommunityMessage, encodeScopedPdu, openMessage } from '../message/message.ts';
import { type GetBulkPdu, type PlainPdu, readPduHead, type Varbind } from '../message/pdu.ts';
import type { SnmpCredential } from './credential.ts';

export type Question =
  | { type: 'get' | 'getNext'; oids: readonly string[] }
  | { type: 'getBulk'; oids: readonly string[]; nonRepeaters: number; maxRepetitions: number };

/** Any id whose BER takes four octets, so that it can be overwritten in place. */
const PLACEHOLDER = 0x7a7a7a7a;

/** One question with one credential, encoded once and sent to any number of agents. */
export class Query {
  readonly credential: SnmpCredential;
  readonly question: Question;
  /** Most varbinds that an honest answer can have. */
  readonly mostVarbinds: number;
  readonly #community: Buffer | null;
  readonly #pdu: PlainPdu | GetBulkPdu;
  #template: Buffer | null = null;
  #idAt = 0;

  constructor(credential: SnmpCredential, question: Question) {
    this.credential = credential;
    this.question = question;
    this.#community = credential.version === 'v3' ? null : Buffer.from(credential.community.reveal(), 'utf8');
    const count = question.oids.length;
    const varbinds = question.oids.map((oid): Varbind => ({ oid, type: 'null', value: null }));
    if (question.type === 'getBulk') {
      const { nonRepeaters, maxRepetitions } = question;
      this.mostVarbinds = nonRepeaters + (count - nonRepeaters) * maxRepetitions;
      this.#pdu = { type: 'getBulk', requestId: PLACEHOLDER, nonRepeaters, maxRepetitions, varbinds };
    } else {
      this.mostVarbinds = count;
      this.#pdu = { type: question.type, requestId: PLACEHOLDER, errorStatus: 0, errorIndex: 0, varbinds };
    }
  }

  /** Whether a v1 or v2c answer carries the community that was sent. */
  isCommunity(octets: Buffer): boolean {
    return this.#community?.equals(octets) ?? false;
  }

  /** The whole v1 or v2c message. `id` lies in 2²³ … 2³¹−1. */
  message(id: number): Buffer {
    const template = this.#template ?? this.#encode();
    const bytes = Buffer.allocUnsafe(template.length);
    template.copy(bytes);
    bytes.writeInt32BE(id, this.#idAt);
    return bytes;
  }

  /** The scoped PDU of a v3 message. */
  scoped(id: number, contextEngineId: Buffer): Buffer {
    const name = this.credential.version === 'v3' ? (this.credential.contextName ?? '') : '';
    return encodeScopedPdu({
      contextEngineId,
      contextName: Buffer.from(name, 'utf8'),
      pdu: { ...this.#pdu, requestId: id },
    });
  }

  #encode(): Buffer {
    const { credential } = this;
    const community = this.#community;
    if (credential.version === 'v3' || !community) throw new Error('a v3 query has no community message');
    const template = encodeCommunityMessage({ version: credential.version, community, pdu: this.#pdu });
    const { reader } = openMessage(template);
    reader.octets();
    readPduHead(reader);
    this.#idAt = template.indexOf(Buffer.of(2, 4, 0x7a, 0x7a, 0x7a, 0x7a), community.length) + 2;
    this.#template = template;
    return template;
  }
}
