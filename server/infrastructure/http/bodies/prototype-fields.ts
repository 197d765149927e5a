import { Failure } from '../../runtime/failure.ts';
import { fieldName } from '../requests/validation.ts';

/** Also where they are written with escapes. */
const SUSPECT = /__proto__|constructor|\\u/;

/**
 * `JSON.parse` makes ordinary fields of `__proto__` and `constructor`, but code that assigns or merges them would change
 * prototypes. No operation has such a field, so it is refused like every unknown one, also where schemas allow any name.
 */
export function failureOfPrototypeField(text: string, body: unknown): Failure | undefined {
  const path = SUSPECT.test(text) ? findPath(body) : undefined;
  if (path === undefined) return undefined;
  return new Failure('invalid_parameter', `${fieldName(path)} is not a parameter of this operation`);
}

/** A JSON pointer. Iterates by level instead of recursing. */
function findPath(body: unknown): string | undefined {
  let level: [path: string, value: unknown][] = [['', body]];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const [parent, value] of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const [name, inner] of Object.entries(value)) {
        const path = `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (name === '__proto__' || (name === 'constructor' && hasPrototype(inner))) return path;
        next.push([path, inner]);
      }
    }
    level = next;
  }
  return undefined;
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
