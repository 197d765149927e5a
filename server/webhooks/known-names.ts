import { Failure } from '../infrastructure/runtime/failure.ts';

/** The names of a filter, or the refusal of an unknown one; undefined without the filter. */
export function knownNames<Name extends string>(
  filter: string,
  names: readonly string[] | undefined,
  known: readonly Name[],
): Name[] | Failure | undefined {
  const isKnown = (name: string): name is Name => known.some((each) => each === name);
  const unknown = names?.find((name) => !isKnown(name));
  if (unknown === undefined) return names?.filter(isKnown);
  return new Failure('invalid_parameter', `${filter} must be one of ${known.join(', ')}; got ${unknown}`);
}
