/** A disk so small that it can be filled: a tmpfs in a mount namespace of its own, which lives as long as its holder. */
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, eventually } from './child.ts';

export class SmallDisk {
  readonly folder: string;
  readonly #holder: Child;

  private constructor(folder: string, holder: Child) {
    this.folder = folder;
    this.#holder = holder;
  }

  /** Mounted on `folder`, for processes started with `wrap` only. Needs root. */
  static async create(folder: string, megabytes: number): Promise<SmallDisk> {
    mkdirSync(folder, { recursive: true });
    const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && exec sleep 1000000`;
    const holder = new Child({
      command: 'unshare',
      args: ['-m', 'sh', '-c', script, folder],
      logFile: `${folder}.log`,
    });
    const disk = new SmallDisk(folder, holder);
    const mounted = await eventually(() => disk.#size() === megabytes * 1024 * 1024, 5000, 10);
    if (!mounted) throw new Error(`no small disk could be made at ${folder}`);
    return disk;
  }

  /** The folder as everybody else reaches it. */
  get outside(): string {
    return `/proc/${this.#holder.pid}/root${this.folder}`;
  }
  /** Words before a command that is to see it. */
  get wrap(): string[] {
    return ['nsenter', '-m', '-t', String(this.#holder.pid), '--'];
  }

  /** Takes all that is free. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.outside);
    try {
      writeFileSync(join(this.outside, 'ballast'), Buffer.alloc(bavail * bsize));
    } catch {
      // Somebody else took the last of it.
    }
  }
  free(): void {
    rmSync(join(this.outside, 'ballast'), { force: true });
  }

  async destroy(): Promise<void> {
    await this.#holder.kill();
  }

  #size(): number {
    try {
      const { blocks, bsize } = statfsSync(this.outside);
      return blocks * bsize;
    } catch {
      return 0;
    }
  }
}
