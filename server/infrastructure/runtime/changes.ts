import { isDeepStrictEqual } from 'node:util';

/** The current values of the fields that change. */
export function replacedBy(changes: object, current: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(current).filter(([name]) => name in changes));
}

/**
 * The fields of a `PATCH` that differ from the current values; undefined when none does. An unchanged value leaves no
 * new `updated_at`, audit record or event.
 */
export function changesOf<Input extends object>(current: object, input: Input): Partial<Input> | undefined {
  const now = new Map<string, unknown>(Object.entries(current));
  const changed = Object.entries(input).filter(([name, value]) => !isDeepStrictEqual(now.get(name), value));
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as Partial<Input>);
}
