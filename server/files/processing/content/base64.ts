import { setImmediate } from 'node:timers/promises';

/**
 * Strict base64 (RFC 4648, section 4): the standard alphabet, padded, nothing in between, and the unused bits of the
 * last character zero, so that there is exactly one way to write each content. Decoded in blocks, with a turn of the
 * event loop after each: other requests do not wait for a whole file.
 */
export class InvalidBase64 extends Error {
  override readonly name = 'InvalidBase64';
}

/** Characters in one block; a multiple of four, so that each block decodes by itself. */
const BLOCK_CHARACTERS = 65_536;

/** Takes the text in pieces of any length. Throws InvalidBase64, whose message says where and why. */
export async function* decodeBase64(pieces: Iterable<string>): AsyncGenerator<Buffer> {
  let position = 0;
  for (const [block, isLast] of inBlocks(pieces)) {
    const bytes = Buffer.from(block, 'base64');
    // Node decodes anything. What is written back the same was written the one right way.
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

/** For a person who has to find it; the order goes from what explains most. */
function problemOf(block: string, start: number, isLast: boolean): string {
  if (start === 0 && DATA_URL.test(block)) return 'must be base64 alone, without the prefix of a data URL';
  const found = (isLast ? block.replace(/={1,2}$/, '') : block).search(OUTSIDE_ALPHABET);
  const character = block[found];
  const position = start + found + 1;
  if (character === '\n' || character === '\r')
    return `must be base64 in one line: there is a line break at character ${position}`;
  if (character === '-' || character === '_')
    return `must use the standard base64 alphabet (+ and /): there is a ${character} at character ${position}`;
  if (character !== undefined && character !== '=')
    return `must be base64: character ${position} is not part of it`;
  if (character === '=' || block.length % 4 !== 0)
    return 'must be base64 padded at its end, with at most two =, to a multiple of four characters';
  return 'must be base64 as encoders write it: its last character has bits that stand for nothing';
}
