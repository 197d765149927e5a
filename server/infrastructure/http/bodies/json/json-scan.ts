/**
 * Limits nesting, keys and entries of JSON text in one pass over its chunks, before it is parsed: JSON.parse needs
 * tens of milliseconds for 256 KiB of distinct keys and about a second for 4 MiB. It does not validate JSON.
 *
 * The long string field of an operation is removed meanwhile and replaced by an empty string, so that no step parses or
 * copies megabytes at once.
 */

/** Deeper than any valid request; code that recurses over a value must not overflow the stack. */
export const MAX_JSON_DEPTH = 32;
/** Entries of all objects and arrays in total; the largest request, 1,000 events of 6 fields, has 7,002. */
export const MAX_JSON_ENTRIES = 10_000;
export const MAX_OBJECT_KEYS = 100;

/** The raw bytes of a string between its quotes, with escape sequences. */
export type RawText = { pieces: readonly Uint8Array[]; characters: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Structure, and what a number has that is not just digits. */
const IS_READ = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, POINT])
  IS_READ[byte] = 1;
for (const byte of [LOWER_E, UPPER_E]) IS_READ[byte] = 1;
/**
 * The long text has megabytes, nearly always without escapes, and the native search is many times faster than a loop.
 * It starts after this many plain bytes and covers a bounded range, because each search has a fixed cost.
 */
const SEARCHED_AFTER_BYTES = 64;
const SEARCHED_BYTES = 4_096;
/** Digits after `\u`. */
const UNICODE_DIGITS = 4;

/** The part of a field name that a message shows. */
const SHOWN_NAME_BYTES = 64;

/** Bytes of a chunk. A view of them would cost as much as scanning a short body. */
type Part = { readonly chunk: Uint8Array; readonly from: number; readonly to: number };
const EMPTY: Part = { chunk: new Uint8Array(), from: 0, to: 0 };

/** `keep` gets the text in chunks, without the long field. */
export function createJsonScan(keep: (piece: Uint8Array) => void, longField?: string) {
  /** Keys of the open object at each depth. Not a typed array: allocating one takes longer than scanning a short body. */
  const keys: number[] = [];
  let depth = 0;
  let entries = 0;
  let fields = 0;
  let hasDecimals = false;
  /** The last byte of the chunk before. */
  let last = 0;
  let inString = false;
  /** Remaining bytes of an escape sequence; -1 right after its backslash. */
  let escapeLeft = 0;
  /** The start of the last string of the top level, which is a field name when a colon follows. */
  let name = EMPTY;
  let nameBytes = 0;
  let field = EMPTY;
  let beforeLong = false;
  let inLong = false;
  let long: { pieces: Uint8Array[]; characters: number } | undefined;
  let problem: string | undefined;

  function refuse(what: string): void {
    problem = `${textOf(field) || 'The request body'} ${what}`;
  }

  function open(): void {
    depth += 1;
    if (depth > MAX_JSON_DEPTH) refuse(`must be nested at most ${MAX_JSON_DEPTH} levels deep`);
    else keys[depth] = 0;
    countEntry();
  }

  function countEntry(): void {
    entries += 1;
    beforeLong = false;
    if (entries > MAX_JSON_ENTRIES)
      problem = `The request body must have at most ${MAX_JSON_ENTRIES} entries of objects and arrays`;
  }

  function nameValue(): void {
    if (depth === 1) field = name;
    beforeLong =
      depth === 1 && longField !== undefined && nameBytes <= SHOWN_NAME_BYTES && textOf(field) === longField;
    fields += 1;
    const count = (keys[depth] ?? 0) + 1;
    keys[depth] = count;
    if (count > MAX_OBJECT_KEYS)
      problem = `The objects of the request body must have at most ${MAX_OBJECT_KEYS} keys`;
  }

  function beginText(): void {
    inString = true;
    name = EMPTY;
    nameBytes = 0;
    if (!beforeLong) return;
    inLong = true;
    long = { pieces: [], characters: 0 };
  }

  function read(byte: number, before: number): void {
    if (byte === QUOTE) beginText();
    else if (byte === COLON) nameValue();
    else if (byte === COMMA) countEntry();
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) open();
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth = Math.max(0, depth - 1);
    // Otherwise the letter of `true` or `false`.
    else if (byte === POINT || (before >= ZERO && before <= NINE)) hasDecimals = true;
  }

  function recordName(chunk: Uint8Array, from: number, to: number): void {
    if (depth !== 1 || inLong) return;
    const part = { chunk, from, to: Math.min(to, from + SHOWN_NAME_BYTES - nameBytes) };
    if (nameBytes === 0) name = part;
    else if (nameBytes < SHOWN_NAME_BYTES) name = joined(name, part);
    nameBytes += to - from;
  }

  /** The index of the quote that ends the string, or the end of the chunk. */
  function textEnd(chunk: Uint8Array, from: number): number {
    const { length } = chunk;
    let following = escapeLeft;
    let escapes = 0;
    let plain = 0;
    let at = from;
    for (; at < length; at += 1) {
      const byte = chunk[at] as number;
      if (following !== 0) {
        following = following > 0 ? following - 1 : byte === LOWER_U ? UNICODE_DIGITS : 0;
        escapes += 1;
        plain = 0;
      } else if (byte === BACKSLASH) following = -1;
      else if (byte === QUOTE) break;
      else if (inLong && plain >= SEARCHED_AFTER_BYTES) at = nextOf(chunk, at) - 1;
      else plain += 1;
    }
    escapeLeft = following;
    if (long && inLong) long.characters += at - from - escapes;
    recordName(chunk, from, at);
    return at;
  }

  /** The index of the next byte to read. */
  function skip(chunk: Uint8Array, from: number): number {
    const { length } = chunk;
    let at = from;
    while (at < length && IS_READ[chunk[at] as number] === 0) at += 1;
    return at;
  }

  return {
    /** Returns the first problem of the text so far. */
    write(chunk: Uint8Array): string | undefined {
      let start = 0;
      let at = 0;
      while (at < chunk.length) {
        if (!inString) {
          at = skip(chunk, at);
          if (at === chunk.length) break;
          read(chunk[at] as number, (at === 0 ? last : chunk[at - 1]) as number);
          if (problem !== undefined) return problem;
          at += 1;
          if (inLong) {
            keep(chunk.subarray(start, at));
            start = at;
          }
          continue;
        }
        at = textEnd(chunk, at);
        if (inLong && at > start) {
          long?.pieces.push(chunk.subarray(start, at));
          start = at;
        }
        if (at === chunk.length) break;
        inString = false;
        inLong = false;
        beforeLong = false;
        at += 1;
      }
      last = chunk.at(-1) ?? last;
      if (start < chunk.length) keep(start === 0 ? chunk : chunk.subarray(start));
      return undefined;
    },

    /** Fields of all objects, repeated ones included. */
    fieldCount: (): number => fields,

    /** Whether a number has a point or an exponent. */
    hasDecimals: (): boolean => hasDecimals,

    /** The last one if there are several. */
    longText: (): RawText | undefined => long,
  };
}

function bytesOf({ chunk, from, to }: Part): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset + from, to - from);
}

function textOf(part: Part): string {
  return bytesOf(part).toString();
}

function joined(one: Part, other: Part): Part {
  const chunk = Buffer.concat([bytesOf(one), bytesOf(other)]);
  return { chunk, from: 0, to: chunk.length };
}

/** The index of the next quote or backslash in the searched range, or its end. */
function nextOf(chunk: Uint8Array, from: number): number {
  const searched = chunk.subarray(from, from + SEARCHED_BYTES);
  const quote = searched.indexOf(QUOTE);
  const before = quote === -1 ? searched : searched.subarray(0, quote);
  const backslash = before.indexOf(BACKSLASH);
  return from + (backslash === -1 ? before.length : backslash);
}
