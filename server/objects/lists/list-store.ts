import { type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import {
  distinct,
  hasMoreThan,
  type Narrowed,
  type Narrowing,
  selectPageOfEach,
} from '../../infrastructure/database/paging/value-paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { later } from '../../infrastructure/runtime/clock.ts';
import { firstGuidAt } from '../../infrastructure/runtime/guid.ts';
import type { ObjectRow, Visible } from '../store.ts';
import { VALUE_FILTERS, type ValueFilters } from './value-filters.ts';

type Sql = RawBuilder<unknown>;

const ENVIRONMENTS: readonly EnvironmentName[] = ['production', 'sandbox'];
const TYPE_IN_DETAILS = sql`(details ->> 'type')`;
const LOWEST_GUID = '0'.repeat(32);
const HIGHEST_GUID = 'f'.repeat(32);
/**
 * The most that the time in a guid differs from `created_at`. A trigger marks all other rows as `guid_time_differs`
 * (migration 0017, with the same limit).
 */
const MAX_GUID_TIME_DIFFERENCE_MS = 5 * 60_000;
/** As in the indexes on `updated_at`. All other objects changed last at about the time in their guid. */
const CHANGED_LATE = sql`(guid_time_differs or updated_at - created_at > interval '5 minutes')`;
const MAX_PROMPT_CHANGE_MS = 5 * 60_000;
/** Late changes in a time window that are sorted for a page. */
const MAX_SORTED_CHANGES = 2_000;
/** Filters that usually match fewer objects than a state does. */
const NARROWER_THAN_STATE: readonly string[] = [
  'quote_guid',
  'plan_guid',
  'account_guid',
  'file_guid',
  'label',
];

export type ObjectFilters = ValueFilters & {
  guid?: readonly string[] | undefined;
  state?: readonly string[] | undefined;
  type?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  customerGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
  updatedAtGte?: Date | undefined;
  updatedAtLt?: Date | undefined;
};

/**
 * Uses the index of the narrowest filter: the customer, the bank or the environment, with a value, the state or the type
 * in the details. Other filters are checked on the rows.
 */
export function selectObjects(
  queries: Queries,
  visible: Visible,
  type: string,
  page: Page,
  filters: ObjectFilters,
): Promise<PageOf<ObjectRow>> {
  const list = { tenant: tenantConditions(visible, filters), owner: ownerNarrowing(visible, filters), type };
  if (filters.guid) return selectPageOfEach(queries, [unordered(list, filters)], page);
  const { createdAtGte, createdAtLt, updatedAtGte, updatedAtLt } = filters;
  if (updatedAtGte || updatedAtLt) return selectChanged(queries, list, page, filters);
  return selectPageOfEach(queries, createdBetween(list, filters, createdAtGte, createdAtLt), page);
}

export type Tenant = { organizationGuid: string; environment: EnvironmentName };

type List = { tenant: readonly Sql[]; owner: Narrowing; type: string };

function createdBetween(list: List, filters: ObjectFilters, from?: Date, until?: Date): Narrowed[] {
  if (!from && !until) return [ordered(list, filters)];
  const window = guidWindow(from, until);
  const [lowest, highest] = window;
  return [
    { ...ordered(list, filters), window },
    // The core may report an object long after the time in its guid.
    {
      ...unordered(list, { ...filters, createdAtGte: from, createdAtLt: until }, [
        sql`guid_time_differs and not (guid >= ${lowest} and guid < ${highest})`,
      ]),
      range: sql`created_at`,
    },
  ];
}

/**
 * Objects that changed late are read by an index on `updated_at` and sorted, the others by the time in their guids. If
 * the former are many, all are read in the order of their guids: then a page soon has enough of them.
 */
async function selectChanged(
  queries: Queries,
  list: List,
  page: Page,
  filters: ObjectFilters,
): Promise<PageOf<ObjectRow>> {
  const { createdAtGte, createdAtLt, updatedAtGte, updatedAtLt } = filters;
  const inRange = [CHANGED_LATE, ...between(sql`updated_at`, updatedAtGte, updatedAtLt)];
  const { tenant, owner, type } = list;
  const kind = { column: sql`type`, values: textArray([type]) };
  const changes = {
    table: 'objects',
    where: [...tenant, ...inRange],
    each: [owner, kind],
    range: sql`updated_at`,
  };
  // An object does not change before its creation.
  const until = earliest(createdAtLt, updatedAtLt);
  const from = updatedAtGte && later(updatedAtGte, -MAX_PROMPT_CHANGE_MS);
  const window = guidWindow(latest(createdAtGte, from), until);
  const separately = [
    { ...ordered(list, filters, [sql`not ${CHANGED_LATE}`]), window },
    { ...changes, where: [...tenant, CHANGED_LATE, ...rowConditions(filters), ...valueConditions(filters)] },
  ];
  if (!(await hasMoreThan(queries, changes, MAX_SORTED_CHANGES)))
    return selectPageOfEach(queries, separately, page);
  const together = createdBetween(list, filters, createdAtGte, until);
  const isFiltered = filters.state ?? filters.type ?? VALUE_FILTERS.some(({ key }) => filters[key]);
  return selectPageOfEach(queries, together, page, isFiltered ? together : separately);
}

/** Few objects, found by their guids or by a partial index. */
function unordered({ tenant, type }: List, filters: ObjectFilters, where: readonly Sql[] = []): Narrowed {
  const conditions = [...rowConditions(filters), ...valueConditions(filters)];
  return { table: 'objects', where: [...tenant, sql`type = ${type}`, ...conditions, ...where], each: [] };
}

/** Objects in the order of an index that ends with the guid. */
function ordered(
  { tenant, owner, type }: List,
  filters: ObjectFilters,
  ofRow: readonly Sql[] = [],
): Narrowed {
  const { state, type: kinds } = filters;
  const conditions = [...ofRow, ...rowConditions(filters)];
  const by = VALUE_FILTERS.find(
    ({ key, name }) => filters[key] && (!state || NARROWER_THAN_STATE.includes(name)),
  );
  if (by) {
    const wanted = distinct(filters[by.key] ?? []);
    const values = textArray(wanted.map((value) => `${type}.${by.name}:${value}`));
    return {
      table: 'object_filter_values',
      where: tenant,
      each: [owner, { column: sql`value`, values }],
      lookup: { table: 'objects', where: [...conditions, ...valueConditions(filters, by.key)] },
      rowsOfGuid: Math.min(wanted.length, by.valuesOfObject),
    };
  }
  const each = [owner, { column: sql`type`, values: textArray([type]) }];
  if (state) each.push({ column: sql`state`, values: textArray(distinct(state)) });
  else if (kinds) each.push({ column: TYPE_IN_DETAILS, values: textArray(distinct(kinds)) });
  return {
    table: 'objects',
    where: [...tenant, ...conditions, ...valueConditions(filters)],
    each,
  };
}

/** On columns that `object_filter_values` has too. */
function tenantConditions(visible: Visible, filters: ObjectFilters): Sql[] {
  const { organizationGuid, environment, bankGuid, customerGuid } = visible;
  const where = [sql`organization_guid = ${organizationGuid}`];
  if (environment) where.push(sql`environment = ${environment}`);
  if (bankGuid) where.push(sql`bank_guid = ${bankGuid}`);
  if (customerGuid) where.push(sql`customer_guid = ${customerGuid}`);
  if (filters.guid) where.push(sql`guid = any(${uuidArray(filters.guid)})`);
  if (filters.bankGuid) where.push(sql`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  if (filters.customerGuid) where.push(sql`customer_guid = any(${uuidArray(filters.customerGuid)})`);
  if (filters.environment) where.push(sql`environment = any(${textArray(filters.environment)})`);
  return where;
}

function rowConditions(filters: ObjectFilters): Sql[] {
  const where = [
    ...between(sql`created_at`, filters.createdAtGte, filters.createdAtLt),
    ...between(sql`updated_at`, filters.updatedAtGte, filters.updatedAtLt),
  ];
  if (filters.state) where.push(sql`state = any(${textArray(filters.state)})`);
  if (filters.type) where.push(sql`${TYPE_IN_DETAILS} = any(${textArray(filters.type)})`);
  return where;
}

function valueConditions(filters: ObjectFilters, except?: string): Sql[] {
  return VALUE_FILTERS.flatMap(({ key, fields, isArray }) => {
    const values = filters[key];
    if (!values || key === except) return [];
    if (key === 'label') return [sql`labels && ${textArray(values)}`];
    const matches = fields.map((field) =>
      isArray
        ? sql`details -> ${sql.lit(field)} ?| ${textArray(values)}`
        : sql`details ->> ${sql.lit(field)} = any(${textArray(values)})`,
    );
    return [sql`(${sql.join(matches, sql` or `)})`];
  });
}

function between(column: Sql, from: Date | undefined, until: Date | undefined): Sql[] {
  return [...(from ? [sql`${column} >= ${from}`] : []), ...(until ? [sql`${column} < ${until}`] : [])];
}

/** Contains the guids of all objects of this time whose guid is not marked. */
function guidWindow(from: Date | undefined, until: Date | undefined): [from: string, until: string] {
  return [
    from ? firstGuidAt(later(from, -MAX_GUID_TIME_DIFFERENCE_MS)) : LOWEST_GUID,
    until ? firstGuidAt(later(until, MAX_GUID_TIME_DIFFERENCE_MS)) : HIGHEST_GUID,
  ];
}

function latest(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && other ? (one > other ? one : other) : (one ?? other);
}

function earliest(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && other ? (one < other ? one : other) : (one ?? other);
}

/** The filter with the fewest objects. */
function ownerNarrowing(visible: Visible, filters: ObjectFilters): Narrowing {
  const customers = visible.customerGuid ? [visible.customerGuid] : filters.customerGuid;
  if (customers) return { column: sql`customer_guid`, values: uuidArray(distinct(customers)) };
  const banks = visible.bankGuid ? [visible.bankGuid] : filters.bankGuid;
  if (banks) return { column: sql`bank_guid`, values: uuidArray(distinct(banks)) };
  const environments = visible.environment ? [visible.environment] : (filters.environment ?? ENVIRONMENTS);
  return { column: sql`environment`, values: textArray(distinct(environments)) };
}

/** Whether an object of one of these types refers to the file. */
export async function refersToFile(
  queries: Queries,
  { organizationGuid, environment }: Tenant,
  types: readonly string[],
  fileGuid: string,
): Promise<boolean> {
  const values = textArray(types.map((type) => `${type}.file_guid:${fileGuid}`));
  const { rows } = await sql`
    select guid from object_filter_values
    where organization_guid = ${organizationGuid} and environment = ${environment} and value = any(${values})
    limit 1`.execute(queries);
  return rows.length > 0;
}
