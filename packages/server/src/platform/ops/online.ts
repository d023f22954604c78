/** A collector whose instance said nothing of it for this long is not connected, whatever the row says, seconds. */
export const ONLINE_SECONDS = 45;

/** SQL condition: some instance of the server holds the collector's socket and heard of it lately. */
export const online = (collector: string): string =>
  `(${collector}.status = 'active' AND ${collector}.instance IS NOT NULL
    AND ${collector}.last_seen_at > now() - interval '${ONLINE_SECONDS} seconds')`;
