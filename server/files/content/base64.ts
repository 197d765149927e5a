/**
 * Strict base64 (RFC 4648, section 4): the standard alphabet, padded, nothing in between, and the unused bits of the
 * last character zero, so that there is exactly one way to write each content. Decoded in pieces: beside the text
 * that came in there is never a second whole copy.
 */
export class InvalidBase64 extends Error {
  override readonly name = 'InvalidBase64';
}

/** Characters in one piece; a multiple of four, so that each piece decodes by itself. */
const PIECE_CHARACTERS = 65_536;

/** Throws InvalidBase64, whose message says where and why, when it comes to what is wrong. */
export async function* decodeBase64(data: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < data.length; start += PIECE_CHARACTERS) {
    const piece = data.slice(start, start + PIECE_CHARACTERS);
    const bytes = Buffer.from(piece, 'base64');
    // Node decodes anything. What is written back the same was written the one right way.
    if (bytes.toString('base64') !== piece) throw new InvalidBase64(problemOf(data));
    yield bytes;
  }
}

/** How many bytes valid base64 stands for, without decoding it; of any other text, about as many. */
export function decodedBytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.ceil((data.length / 4) * 3) - padding;
}

const DATA_URL = /^data:/i;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9+/]/;

/** For a person who has to find it; the order goes from what explains most. */
function problemOf(data: string): string {
  if (DATA_URL.test(data)) return 'must be base64 alone, without the prefix of a data URL';
  const position = data.replace(/={1,2}$/, '').search(OUTSIDE_ALPHABET);
  const character = data[position];
  if (character === '\n' || character === '\r')
    return `must be base64 in one line: there is a line break at character ${position + 1}`;
  if (character === '-' || character === '_')
    return `must use the standard base64 alphabet (+ and /): there is a ${character} at character ${position + 1}`;
  if (character !== undefined && character !== '=')
    return `must be base64: character ${position + 1} is not part of it`;
  if (character === '=' || data.length % 4 !== 0)
    return 'must be base64 padded at its end, with at most two =, to a multiple of four characters';
  return 'must be base64 as encoders write it: its last character has bits that stand for nothing';
}
