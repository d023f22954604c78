/** A wall that was shared: its link carries a token that only reads, in the fragment, which browsers send nowhere. */
const { pathname = '', hash = '' } = globalThis.location ?? {};

export const wallToken: string | undefined =
  pathname === '/wall' ? /^#(svc_[0-9A-Za-z]{40})$/.exec(hash)?.[1] : undefined;
