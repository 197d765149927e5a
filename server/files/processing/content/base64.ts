import { setImmediate } from 'node:timers/promises';

/**
 * Strict base64 (RFC 4648, section 4): standard alphabet, padded, no line breaks, unused bits zero, so that each
 * content has exactly one encoding. Decoded in blocks with a yield to the event loop after each, so that a large
 * file does not block other requests.
 */
export class InvalidBase64 extends Error {
  override readonly name = 'InvalidBase64';
}

/** A multiple of four, so that each block decodes separately. */
const BLOCK_CHARACTERS = 65_536;

/** Takes the text in pieces of any length. The message of InvalidBase64 says where and why. */
export async function* decodeBase64(pieces: Iterable<string>): AsyncGenerator<Buffer> {
  let position = 0;
  for (const [block, isLast] of inBlocks(pieces)) {
    const bytes = Buffer.from(block, 'base64');
    // Node decodes anything, so each block is compared with its canonical encoding.
    if (bytes.toString('base64') !== block || (!isLast && block.endsWith('=')))
      throw new InvalidBase64(problemOf(block, position, isLast));
    yield bytes;
    position += block.length;
    await setImmediate();
  }
}

function* inBlocks(pieces: Iterable<string>): Generator<[block: string, isLast: boolean]> {
  let pending = '';
  for (const piece of pieces) {
    pending += piece;
    let start = 0;
    for (; pending.length - start > BLOCK_CHARACTERS; start += BLOCK_CHARACTERS)
      yield [pending.slice(start, start + BLOCK_CHARACTERS), false];
    pending = pending.slice(start);
  }
  if (pending !== '') yield [pending, true];
}

const DATA_URL = /^data:/i;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9+/]/;

/** The most specific explanation comes first. */
function problemOf(block: string, start: number, isLast: boolean): string {
  if (start === 0 && DATA_URL.test(block)) return 'must be base64 without the prefix of a data URL';
  const found = (isLast ? block.replace(/={1,2}$/, '') : block).search(OUTSIDE_ALPHABET);
  const character = block[found];
  const position = start + found + 1;
  if (character === '\n' || character === '\r')
    return `must be base64 without line breaks; found a line break at character ${position}`;
  if (character === '-' || character === '_')
    return `must use the standard base64 alphabet (+ and /); found ${character} at character ${position}`;
  if (character !== undefined && character !== '=')
    return `must be base64; character ${position} is not in its alphabet`;
  if (character === '=' || block.length % 4 !== 0)
    return 'must be base64 padded with = only at its end, to a multiple of four characters';
  return 'must be canonical base64; the unused bits of its last character must be zero';
}
