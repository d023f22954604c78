const hidden = new WeakMap<Secret, string>();

/** A value that never prints: string conversion, JSON and `util.inspect` all give `***`. */
export class Secret {
  constructor(value: string) {
    hidden.set(this, value);
  }
  /** The plain value; call it at the last moment and keep the result in no variable that outlives the call. */
  reveal(): string {
    return hidden.get(this) ?? '';
  }
  /** A secret made from this one, such as a community with a suffix. */
  with(change: (value: string) => string): Secret {
    return new Secret(change(this.reveal()));
  }
  toString(): string {
    return '***';
  }
  toJSON(): string {
    return '***';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}
