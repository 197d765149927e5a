import { Failure } from '../../../runtime/failure.ts';
import { printable } from '../../requests/validation.ts';

/** Strings, with the colon after a field name, and the ends of objects. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g;

/**
 * `JSON.parse` keeps the last of several fields with the same name, and another reader may have kept the first.
 * `fieldCount` is the number of fields in the text.
 */
export function failureOfRepeatedField(
  text: string,
  parsed: unknown,
  fieldCount: number,
): Failure | undefined {
  const name = countFields(parsed) === fieldCount ? undefined : findRepeated(text);
  return name === undefined
    ? undefined
    : new Failure('invalid_parameter', `${printable(name)} must be sent only once`);
}

/** The depth of a body is limited before it is parsed. */
function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.values(value);
  return entries.reduce<number>(
    (count, entry) => count + countFields(entry),
    Array.isArray(value) ? 0 : entries.length,
  );
}

function findRepeated(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}
