/** One HTTP request to a webhook, and where it goes. */

export interface Request {
  url: string;
  headers: Record<string, string>;
  method?: 'PUT';
  /** Text as it is; anything else as JSON. */
  body: unknown;
}

/** Where a subscription sends to, and with what. */
export interface Target {
  url: string;
  /** The routing key, where the format has one. */
  key: string;
  template: string | null;
  /** Of a bot. */
  channel: string | null;
  /** Headers of its own, by name in lower case. */
  headers: Record<string, string>;
}
