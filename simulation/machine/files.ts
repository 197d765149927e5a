import fs from 'node:fs';
import promises from 'node:fs/promises';
import { Readable } from 'node:stream';

/**
 * Reads and writes files in this thread. The thread pool would end two accesses of one step in any order, and the
 * simulation would have to look all the time whether it has ended.
 */
export function accessFilesInThisThread(): void {
  const synchronous = fs as unknown as Record<string, ((...args: unknown[]) => unknown) | undefined>;
  const methods = promises as unknown as Record<string, unknown>;
  for (const name of Object.keys(promises)) {
    const access = synchronous[`${name}Sync`];
    if (access) methods[name] = async (...args: unknown[]) => access(...args);
  }
  methods.open = async (...args: Parameters<typeof fs.openSync>) =>
    new SynchronousHandle(fs.openSync(...args));
}

const PIECE_BYTES = 65_536;

/** The methods of a `FileHandle` that the service uses. */
class SynchronousHandle {
  readonly #fd: number;
  #isOpen = true;

  constructor(fd: number) {
    this.#fd = fd;
  }

  async writev(pieces: readonly NodeJS.ArrayBufferView[]): Promise<{ bytesWritten: number }> {
    return { bytesWritten: fs.writevSync(this.#fd, pieces) };
  }

  async writeFile(content: Buffer): Promise<void> {
    fs.writeFileSync(this.#fd, content);
  }

  /** Only a node is killed, never the machine: what is written is there. */
  async sync(): Promise<void> {}

  async close(): Promise<void> {
    if (this.#isOpen) fs.closeSync(this.#fd);
    this.#isOpen = false;
  }

  createReadStream({ start = 0, end = Number.POSITIVE_INFINITY } = {}): Readable {
    let at = start;
    const readPiece = () => {
      const piece = Buffer.allocUnsafe(Math.max(0, Math.min(PIECE_BYTES, end - at + 1)));
      const size = fs.readSync(this.#fd, piece, 0, piece.length, at);
      at += size;
      return size === 0 ? null : piece.subarray(0, size);
    };
    return new Readable({
      highWaterMark: PIECE_BYTES,
      read() {
        this.push(readPiece());
      },
      destroy: (error, done) => void this.close().then(() => done(error)),
    });
  }
}
