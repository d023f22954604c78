/** The part of net-snmp 3.29 that is used: the ciphers of its User-based Security Model. It carries no types. */
declare module 'net-snmp' {
  interface Cipher {
    CRYPTO_ALGORITHM: string;
    KEY_LENGTH: number;
    BLOCK_LENGTH: number;
    encryptPdu: EncryptPdu;
    decryptPdu: DecryptPdu;
    /** Turns what the caller gave as password into the key of the cipher. */
    localizationAlgorithm: (
      cipher: Cipher,
      authProtocol: unknown,
      password: Buffer,
      engineId: Buffer,
    ) => Buffer;
  }
  interface EngineState {
    engineID: Buffer;
    engineBoots: number;
    engineTime: number;
  }
  type EncryptPdu = (
    scopedPdu: Buffer,
    privProtocol: string,
    password: Buffer,
    authProtocol: unknown,
    engine: EngineState,
  ) => { encryptedPdu: Buffer; msgPrivacyParameters: Buffer };
  type DecryptPdu = (
    encryptedPdu: Buffer,
    privProtocol: string,
    salt: Buffer,
    password: Buffer,
    authProtocol: unknown,
    engine: EngineState,
  ) => Buffer;
  const snmp: {
    Encryption: {
      algorithms: Record<string, Cipher>;
      encryptPduAes: EncryptPdu;
      decryptPduAes: DecryptPdu;
    };
  };
  export default snmp;
}
