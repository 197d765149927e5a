import Type, { type TProperties } from 'typebox';

/** Filters of lists take one value or several, separated by commas (contract, section 5). */
const MAX_VALUES = 100;

export const guidsFilter = Type.Optional(
  Type.String({
    pattern: `^[0-9a-f]{32}(,[0-9a-f]{32}){0,${MAX_VALUES - 1}}$`,
    description: `One guid, or up to ${MAX_VALUES} separated by commas`,
    example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  }),
);

export const wordsFilter = Type.Optional(
  Type.String({
    pattern: `^[a-z_.]{1,64}(,[a-z_.]{1,64}){0,${MAX_VALUES - 1}}$`,
    description: `One value, or up to ${MAX_VALUES} separated by commas`,
  }),
);

const MAX_TEXTS_CHARACTERS = 512;

export function textsFilter(description: string) {
  return Type.Optional(
    Type.String({
      maxLength: MAX_TEXTS_CHARACTERS,
      description: `${description}, or several separated by commas`,
    }),
  );
}

/** The format allows leap seconds and offsets without minutes, neither of which `Date` can read. */
function momentFilter(description: string) {
  return Type.Optional(
    Type.String({
      format: 'date-time',
      pattern: ':[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$',
      description: `${description}, as an ISO 8601 date-time such as 2026-11-15T00:00:00Z`,
    }),
  );
}

export const environmentsFilter = Type.Optional(
  Type.String({
    pattern: '^(production|sandbox)(,(production|sandbox))?$',
    description: 'production, sandbox, or both separated by a comma',
  }),
);

export const createdAtFilters = {
  created_at_gte: momentFilter('Created at or after this time'),
  created_at_lt: momentFilter('Created before this time'),
};

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** What the services take: `created_at_gte` as a Date under `createdAtGte`, all others as lists. */
export type FilterValues<Filters extends TProperties> = {
  [Name in keyof Filters & string as CamelCase<Name>]:
    | (Name extends keyof typeof createdAtFilters ? Date : string[])
    | undefined;
};

/** Reads the filters that a list declares from its query. */
export function createFilterReader<Filters extends TProperties>(filters: Filters) {
  const readers = Object.keys(filters).map((name) => {
    const camelCase = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [name, camelCase, name in createdAtFilters ? moment : values] as const;
  });
  return (query: Readonly<Record<string, unknown>>): FilterValues<Filters> => {
    const found: Record<string, unknown> = {};
    for (const [name, camelCase, read] of readers) found[camelCase] = read(query[name] as string | undefined);
    return found as FilterValues<Filters>;
  };
}

export function values(text: string | undefined): string[] | undefined {
  return text?.split(',');
}

function moment(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
