/** The part of net-snmp 3.29 that `doctor snmp` uses. The package carries no types. */
declare module 'net-snmp' {
  import type { EventEmitter } from 'node:events';

  export interface Varbind {
    oid: string;
    type: number;
    value: unknown;
  }
  export interface Session extends EventEmitter {
    dgram: EventEmitter;
    /** `feed` answers true to end the walk. */
    subtree(
      oid: string,
      maxRepetitions: number,
      feed: (varbinds: Varbind[]) => boolean,
      done: (error: Error | null) => void,
    ): void;
    close(): void;
  }
  export interface Options {
    port: number;
    retries: number;
    timeout: number;
    transport: 'udp4' | 'udp6';
    version: number;
    context?: string;
  }
  export interface User {
    name: string;
    level: number;
    authProtocol?: number;
    authKey?: string;
    privProtocol?: number;
    privKey?: string;
  }
  const snmp: {
    Version1: number;
    Version2c: number;
    Version3: number;
    SecurityLevel: { noAuthNoPriv: number; authNoPriv: number; authPriv: number };
    AuthProtocols: Record<string, number>;
    PrivProtocols: Record<string, number>;
    ObjectType: Record<number, string>;
    ErrorStatus: Record<number, string>;
    ResponseInvalidCode: Record<number, string>;
    isVarbindError(varbind: Varbind): boolean;
    createSession(target: string, community: string, options: Options): Session;
    createV3Session(target: string, user: User, options: Options): Session;
  };
  export default snmp;
}
