import type { Clock } from './clock.ts';

/**
 * UUIDv7 (RFC 9562, section 5.7) as 32 lowercase hex characters: 48 bits of milliseconds, 74 bits of chance.
 * Within one process guids only ever grow, even within a millisecond and when the clock steps back, so that
 * "newest first" and keyset paging agree with the order of creation.
 */
export type Guids = { next(): string };
export type RandomBytes = (size: number) => Uint8Array;

const GUID_PATTERN = /^[0-9a-f]{32}$/;

export function isGuid(text: string): boolean {
  return GUID_PATTERN.test(text);
}

/** Random bits are drawn in blocks: one call for many guids instead of one each. */
const BLOCK_BYTES = 4096;
const BYTES_PER_GUID = 8;
/** The 12 bits of `rand_a` count within a millisecond (RFC 9562, section 6.2, method 1). */
const MAX_SEQUENCE = 0xfff;
/** A new millisecond starts low, which leaves room to count up. */
const FIRST_SEQUENCE_MASK = 0x3ff;

export function createGuids({ clock, randomBytes }: { clock: Clock; randomBytes: RandomBytes }): Guids {
  let block = Buffer.alloc(0);
  let offset = 0;
  let milliseconds = 0;
  let sequence = 0;

  function takeRandom(): { head: number; high: number; low: number } {
    if (offset + BYTES_PER_GUID + 2 > block.length) {
      block = Buffer.from(randomBytes(BLOCK_BYTES));
      offset = 0;
    }
    const head = block.readUInt16BE(offset);
    const high = block.readUInt32BE(offset + 2);
    const low = block.readUInt32BE(offset + 6);
    offset += BYTES_PER_GUID + 2;
    return { head, high, low };
  }

  function next(): string {
    const now = clock.now().getTime();
    const { head, high, low } = takeRandom();
    if (now > milliseconds) {
      milliseconds = now;
      sequence = head & FIRST_SEQUENCE_MASK;
    } else if (sequence < MAX_SEQUENCE) {
      sequence += 1;
    } else {
      // 4,096 in one millisecond: borrow from the next one rather than repeat or go back.
      milliseconds += 1;
      sequence = 0;
    }
    return (
      hex(milliseconds, 12) +
      hex(0x7000 | sequence, 4) +
      hex(((high & 0x3fffffff) | 0x80000000) >>> 0, 8) +
      hex(low, 8)
    );
  }

  return { next };
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}
