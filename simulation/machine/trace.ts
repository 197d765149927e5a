import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** One line per step. Two runs are the same when their hashes are. */
export type Trace = {
  add(at: number, who: string, what: string): void;
  /** Of all lines so far. */
  hash(): string;
  steps(): number;
  /** The last lines, for the report of a failure. */
  tail(): readonly string[];
};

const TAIL_LINES = 40;

export function createTrace(write: ((line: string) => void) | undefined, startAt: number): Trace {
  const hash = createHash('sha256');
  let tail: string[] = [];
  let steps = 0;
  return {
    add(at, who, what) {
      const line = `${timeOf(at - startAt)} ${who.padEnd(8)} ${what}`;
      steps += 1;
      hash.update(line).update('\n');
      write?.(line);
      tail.push(line);
      if (tail.length > 2 * TAIL_LINES) tail = tail.slice(-TAIL_LINES);
    },
    hash: () => hash.copy().digest('hex').slice(0, 16),
    steps: () => steps,
    tail: () => tail.slice(-TAIL_LINES),
  };
}

export function checksum(bytes: Uint8Array | string): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}

function timeOf(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  return `${days}d ${new Date(ms % 86_400_000).toISOString().slice(11, 23)}`;
}
