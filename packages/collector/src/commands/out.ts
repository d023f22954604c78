/** Standard output in large pieces, and no further than its reader is. */
import type { Screen } from './terminal.ts';

export class Out {
  readonly #stream: Screen;
  #buffer = '';
  #drained: Promise<void> | undefined;
  #closed = false;
  /** Called once when the reader went away (`| head`). */
  onClosed: (() => void) | undefined;

  constructor(stream: Screen) {
    this.#stream = stream;
    stream.on('error', () => {
      this.#closed = true;
      this.onClosed?.();
    });
  }

  line(text: string): void {
    if (this.#buffer === '') setImmediate(() => this.flush());
    this.#buffer += `${text}\n`;
    if (this.#buffer.length > 65_536) this.flush();
  }

  flush(): void {
    const text = this.#buffer;
    this.#buffer = '';
    if (text === '' || this.#closed || this.#stream.write(text)) return;
    this.#drained ??= new Promise((resolve) => {
      this.#stream.once('drain', () => {
        this.#drained = undefined;
        resolve();
      });
    });
  }

  /** A promise while the reader has enough to read. */
  ready(): Promise<void> | undefined {
    return this.#closed ? undefined : this.#drained;
  }
}
