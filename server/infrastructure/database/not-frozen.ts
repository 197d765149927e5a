import { type RawBuilder, sql } from 'kysely';

/** Rows of a frozen Organization do not change, and its background work waits. The column holds its guid. */
export const notFrozen = (column: `${string}.organization_guid`): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} not in (select guid from organizations where frozen_at is not null)`;

/** For rows whose events are published: without the Organizations that this node takes for frozen. */
export const notAmong = (
  column: `${string}.organization_guid`,
  organizationGuids: ReadonlySet<string>,
): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} <> all(${[...organizationGuids]}::uuid[])`;
