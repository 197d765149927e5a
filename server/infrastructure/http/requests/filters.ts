import Type, { type TProperties } from 'typebox';
import { Failure } from '../../runtime/failure.ts';

/**
 * Filters of lists take one value or several, separated by commas (contract, section 5). A repeated parameter is joined
 * to such a list before it is validated.
 */
const MAX_VALUES = 100;
const REPEATABLE = { 'x-repeatable': true };
/** Checks the number of values of a list. In the pattern it could not have a message of its own. */
export const MAX_VALUES_KEYWORD = 'x-max-values';

export function isRepeatable(schema: object): boolean {
  return 'x-repeatable' in schema;
}

export const GUIDS_PATTERN = listPattern('[0-9a-f]{32}');
export const WORDS_PATTERN = listPattern('[a-z_.]{1,64}');
export const METHODS_PATTERN = listPattern('(GET|HEAD|POST|PATCH|PUT|DELETE)');
export const STATUSES_PATTERN = listPattern('([1-5]\\d\\d|[1-5]xx)');
export const ENVIRONMENTS_PATTERN = '^(production|sandbox)(,(production|sandbox))?$';

export const TEXTS_PATTERN = listPattern('[^,]+');

function listPattern(value: string): string {
  return `^${value}(,${value})*$`;
}

/** One value of a pattern, or several separated by commas. */
export function listFilter(pattern: string, maxValues: number, options: object) {
  return Type.Optional(Type.String({ ...REPEATABLE, pattern, [MAX_VALUES_KEYWORD]: maxValues, ...options }));
}

export const guidsFilter = listFilter(GUIDS_PATTERN, MAX_VALUES, {
  description: `One guid, or up to ${MAX_VALUES} separated by commas`,
  example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
});

export const wordsFilter = listFilter(WORDS_PATTERN, MAX_VALUES, {
  description: `One value, or up to ${MAX_VALUES} separated by commas`,
});

const MAX_TEXTS_CHARACTERS = 512;

export function textsFilter(description: string) {
  return Type.Optional(
    Type.String({
      ...REPEATABLE,
      pattern: TEXTS_PATTERN,
      maxLength: MAX_TEXTS_CHARACTERS,
      description: `${description}, or several separated by commas`,
    }),
  );
}

/**
 * The format allows leap seconds, offsets without minutes and any white space before the time. `Date` cannot read all of
 * them.
 */
export const DATE_TIME_PATTERN =
  '^\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$';
const DATE_TIME = { format: 'date-time', pattern: DATE_TIME_PATTERN };

function momentFilter(description: string) {
  return Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      anyOf: [{ format: 'date' }, DATE_TIME],
      description: `${description}, as an ISO 8601 date-time such as 2026-11-15T00:00:00Z, or a date for its midnight in UTC`,
      example: '2026-11-15T00:00:00Z',
    }),
  );
}

export const environmentsFilter = Type.Optional(
  Type.String({
    ...REPEATABLE,
    pattern: ENVIRONMENTS_PATTERN,
    description: 'production, sandbox, or both separated by a comma',
  }),
);

export const createdAtFilters = {
  created_at_gte: momentFilter('Created at or after this time'),
  created_at_lt: momentFilter('Created before this time'),
};

export const updatedAtFilters = {
  updated_at_gte: momentFilter('Last changed at or after this time'),
  updated_at_lt: momentFilter('Last changed before this time'),
};

export const completedAtFilters = {
  completed_at_gte: momentFilter('Completed at or after this time'),
  completed_at_lt: momentFilter('Completed before this time'),
};

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The input of services: `created_at_gte` and its like as a Date under `createdAtGte`, all others as lists. */
export type FilterValues<Filters extends TProperties> = {
  [Name in keyof Filters & string as CamelCase<Name>]:
    | (Name extends `${string}_at_${'gte' | 'lt'}` ? Date : string[])
    | undefined;
};

/** Reads the filters that a list declares from its query. */
export function createFilterReader<Filters extends TProperties>(filters: Filters) {
  const readers = Object.keys(filters).map((name) => {
    const camelCase = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [name, camelCase, /_at_(gte|lt)$/.test(name) ? moment : values] as const;
  });
  return (query: Readonly<Record<string, unknown>>): FilterValues<Filters> => {
    const found: Record<string, unknown> = {};
    for (const [name, camelCase, read] of readers) found[camelCase] = read(query[name] as string | undefined);
    return found as FilterValues<Filters>;
  };
}

/** A value that nothing can have is a mistake of the caller. */
export function refuseUnknown(
  filter: string,
  wanted: readonly string[] | undefined,
  known: readonly string[] | undefined,
): Failure | undefined {
  const unknown = known && wanted?.find((value) => !known.includes(value));
  if (unknown === undefined) return undefined;
  return new Failure('invalid_parameter', `${filter} must be one of ${known?.join(', ')}; got ${unknown}`);
}

/** The values of a filter, or the refusal of an unknown one; undefined without the filter. */
export function knownValues<Value extends string>(
  filter: string,
  wanted: readonly string[] | undefined,
  known: readonly Value[],
): Value[] | Failure | undefined {
  const isKnown = (value: string): value is Value => known.some((each) => each === value);
  return refuseUnknown(filter, wanted, known) ?? wanted?.filter(isKnown);
}

export function values(text: string | undefined): string[] | undefined {
  return text?.split(',');
}

function moment(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
