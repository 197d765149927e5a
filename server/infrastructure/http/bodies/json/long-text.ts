import { Failure } from '../../../runtime/failure.ts';
import { FailureError } from '../../errors.ts';
import type { RawText } from './json-scan.ts';

/** A string of megabytes, decoded in pieces. */
export type LongText = { characters: number; pieces(): Iterable<string> };

/** `\u` and four digits. */
const LONGEST_ESCAPE = 6;

/** `pieces` are the raw bytes between the quotes. Iterating throws a FailureError when they are not valid JSON. */
export function createLongText({ pieces, characters }: RawText): LongText {
  return {
    characters,
    *pieces() {
      const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      let rest = '';
      for (const piece of pieces) {
        const text = rest + decode(() => utf8.decode(piece, { stream: true }));
        const end = endOfEscapes(text);
        yield textOf(text.slice(0, end));
        rest = text.slice(end);
      }
      yield textOf(rest + decode(() => utf8.decode()));
    },
  };
}

/** The index of an escape sequence that continues in the next piece, or the end of the text. */
function endOfEscapes(text: string): number {
  const last = text.lastIndexOf('\\');
  if (last === -1 || text.length - last >= LONGEST_ESCAPE) return text.length;
  let first = last;
  while (first > 0 && text[first - 1] === '\\') first -= 1;
  const isEscaped = (last - first) % 2 === 1;
  const needed = text[last + 1] === 'u' ? LONGEST_ESCAPE : 2;
  return isEscaped || text.length - last >= needed ? text.length : last;
}

function textOf(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    throw malformed('The request body must be valid JSON');
  }
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw malformed('The request body must be valid UTF-8 without compression');
  }
}

export function malformed(message: string): FailureError {
  return new FailureError(new Failure('malformed_json', message));
}
