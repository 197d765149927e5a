import type { Clock } from './clock.ts';

/**
 * UUIDv7 (RFC 9562, section 5.7) as 32 lowercase hex characters: 48 bits of milliseconds, 74 random bits. Within one
 * process guids only grow, even within a millisecond and when the clock steps back, so that "newest first" and keyset
 * paging match the order of creation.
 */
export type Guids = { next(): string };
export type RandomBytes = (size: number) => Uint8Array;

const GUID_PATTERN = /^[0-9a-f]{32}$/;

/** Matches no row. Looked up in place of an unknown id, so that known and unknown ids take the same queries. */
export const NIL_GUID = '0'.repeat(32);

export function isGuid(text: string): boolean {
  return GUID_PATTERN.test(text);
}

/** Random bits are drawn in blocks, which is faster than one call per guid. */
const BLOCK_BYTES = 4096;
/** Random hex digits in one guid, and those for the first sequence number of a millisecond. */
const DIGITS_PER_GUID = 16;
const DIGITS_OF_FIRST = 4;
/** The 12 bits of `rand_a` count within a millisecond (RFC 9562, section 6.2, method 1). */
const MAX_SEQUENCE = 0xfff;
/** A new millisecond starts low, which leaves numbers to count up. */
const FIRST_SEQUENCE_MASK = 0x3ff;
const VARIANT_DIGITS = '89ab';

export function createGuids({ clock, randomBytes }: { clock: Clock; randomBytes: RandomBytes }): Guids {
  let block = '';
  let offset = 0;
  let milliseconds = 0;
  let prefix = '';
  let sequence = 0;

  function takeDigits(count: number): string {
    if (offset + count > block.length) {
      block = Buffer.from(randomBytes(BLOCK_BYTES)).toString('hex');
      offset = 0;
    }
    offset += count;
    return block.slice(offset - count, offset);
  }

  function moveTo(moment: number, first: number): void {
    milliseconds = moment;
    prefix = `${hex(moment, 12)}7`;
    sequence = first;
  }

  function next(): string {
    const now = clock.now().getTime();
    if (now > milliseconds)
      moveTo(now, Number.parseInt(takeDigits(DIGITS_OF_FIRST), 16) & FIRST_SEQUENCE_MASK);
    // After 4,096 guids in one millisecond, uses the next one.
    else if (sequence === MAX_SEQUENCE) moveTo(milliseconds + 1, 0);
    else sequence += 1;
    const digits = takeDigits(DIGITS_PER_GUID);
    // The variant is the two bits 10, which leaves two random bits in the first digit.
    const variant = VARIANT_DIGITS[Number.parseInt(digits[0] as string, 16) & 3];
    return `${prefix}${hex(sequence, 3)}${variant}${digits.slice(1)}`;
  }

  return { next };
}

/** The time bits of a guid reach from 1970 to the year 10889. */
const MAX_MILLISECONDS = 2 ** 48 - 1;

/**
 * The smallest guid of a time: below every guid created then or later. Times outside the range of the time bits are
 * clamped, because a filter may use any time.
 */
export function firstGuidAt(moment: Date): string {
  const milliseconds = Math.min(Math.max(moment.getTime(), 0), MAX_MILLISECONDS);
  return hex(milliseconds, 12).padEnd(32, '0');
}

/** The time in the time bits of a guid. */
export function timeOfGuid(guid: string): Date {
  return new Date(Number.parseInt(guid.slice(0, 12), 16));
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}
