import { Failure } from '../../../../infrastructure/runtime/failure.ts';
import { REDELIVERY_KINDS, REDELIVERY_STATES, type RedeliveryFilters } from './redelivery-store.ts';

/** Filters with names of states and kinds that are not validated yet. */
export type RequestedRedeliveryFilters = Omit<RedeliveryFilters, 'state' | 'kind'> & {
  state?: readonly string[] | undefined;
  kind?: readonly string[] | undefined;
};

export function redeliveryFilters({
  state,
  kind,
  ...filters
}: RequestedRedeliveryFilters): RedeliveryFilters | Failure {
  for (const [name, values, known] of [
    ['state', state, REDELIVERY_STATES],
    ['kind', kind, REDELIVERY_KINDS],
  ] as const) {
    const unknown = values?.find((value) => !isOneOf(known, value));
    if (unknown !== undefined)
      return new Failure('invalid_parameter', `${name} must be one of ${known.join(', ')}; got ${unknown}`);
  }
  return {
    ...filters,
    state: state?.filter((value) => isOneOf(REDELIVERY_STATES, value)),
    kind: kind?.filter((value) => isOneOf(REDELIVERY_KINDS, value)),
  };
}

function isOneOf<Name extends string>(names: readonly Name[], value: string): value is Name {
  return names.some((name) => name === value);
}
