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
const HASHED_LINES = 1_000;

export function createTrace(write: ((line: string) => void) | undefined, startAt: number): Trace {
  const hash = createHash('sha256');
  /** Hashed together, which costs less. */
  const lines: string[] = [];
  let steps = 0;
  function hashLines(kept: number): void {
    const hashed = lines.splice(0, lines.length - kept);
    if (hashed.length > 0) hash.update(`${hashed.join('\n')}\n`);
  }
  return {
    add(at, who, what) {
      const line = `${timeOf(at - startAt)} ${who.padEnd(8)} ${what}`;
      steps += 1;
      write?.(line);
      lines.push(line);
      if (lines.length >= HASHED_LINES) hashLines(TAIL_LINES);
    },
    hash: () => hash.copy().update(lines.join('\n')).digest('hex').slice(0, 16),
    steps: () => steps,
    tail: () => lines.slice(-TAIL_LINES),
  };
}

export function checksum(bytes: Uint8Array | string): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}

const pad = (value: number, digits: number) => String(value).padStart(digits, '0');

function timeOf(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [minutes, hours, days] = [60, 3_600, 86_400].map((length) => Math.floor(seconds / length)) as [
    number,
    number,
    number,
  ];
  return `${days}d ${pad(hours % 24, 2)}:${pad(minutes % 60, 2)}:${pad(seconds % 60, 2)}.${pad(Math.floor(ms) % 1_000, 3)}`;
}
