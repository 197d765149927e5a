import type { EnvironmentName } from '../infrastructure/database/tables.ts';

/** The scope of a token's reads: its Organization in its environment or, without one, in both. */
export type Visible = { organizationGuid: string; environment?: EnvironmentName | undefined };

const ENVIRONMENTS: readonly EnvironmentName[] = ['production', 'sandbox'];

/** The visible environments that match a filter. */
export function visibleEnvironments(
  { environment }: Visible,
  filter: readonly string[] | undefined,
): EnvironmentName[] {
  return ENVIRONMENTS.filter(
    (name) => name === (environment ?? name) && (filter === undefined || filter.includes(name)),
  );
}
