import { Failure } from '../../runtime/failure.ts';
import { printable } from '../requests/validation.ts';

/**
 * Characters that JSON and URLs can contain and PostgreSQL cannot store: U+0000 and unpaired surrogates (RFC 8259,
 * section 8.2). Rejecting them here names the field; in the database they would be an internal error.
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
    return new Failure('not_found', 'No resource exists at this URL');
  return failureOfBody(query);
}

/** Iterates by level instead of recursing; the depth of a body is limited before it is parsed. */
function problemIn(value: unknown): string | undefined {
  let level = [value];
  while (level.length > 0) {
    const next: unknown[] = [];
    for (const entry of level) {
      if (typeof entry === 'string') {
        if (!isStorable(entry)) return 'must not contain U+0000 or unpaired surrogates';
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
