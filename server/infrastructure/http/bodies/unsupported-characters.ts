import { Failure } from '../../runtime/failure.ts';
import { printable } from '../requests/validation.ts';

/**
 * What JSON and URLs can carry and PostgreSQL cannot hold: U+0000 and halves of surrogate pairs (RFC 8259,
 * section 8.2). Refused here by the name of the field; further in it would be a fault of the service.
 */
const NUL = '\0';

export function failureOfBody(body: unknown): Failure | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  for (const [name, value] of Object.entries(body)) {
    const problem = problemIn(value);
    if (problem) return new Failure('invalid_parameter', `${printable(name)} ${problem}`);
  }
  return undefined;
}

export function failureOfUrl(url: string, params: object, query: object): Failure | undefined {
  if (!url.includes('%00')) return undefined;
  if (Object.values(params).some((value) => problemIn(value)))
    return new Failure('not_found', 'There is nothing at this address');
  return failureOfBody(query);
}

/** Level by level instead of by recursion; how deep a body may be is checked before it is parsed. */
function problemIn(value: unknown): string | undefined {
  let level = [value];
  while (level.length > 0) {
    const next: unknown[] = [];
    for (const entry of level) {
      if (typeof entry === 'string') {
        if (!isStorable(entry)) return 'contains a character that cannot be stored';
      } else if (typeof entry === 'object' && entry !== null) {
        if (!Array.isArray(entry)) for (const key of Object.keys(entry)) next.push(key);
        for (const inner of Object.values(entry)) next.push(inner);
      }
    }
    level = next;
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes(NUL);
}
