import Type from 'typebox';
import { Timestamp } from './schemas.ts';

/** Filters of lists take one value or several, separated by commas (contract, section 5). */
const MAX_VALUES = 100;

export const guidsFilter = Type.Optional(
  Type.String({
    pattern: `^[0-9a-f]{32}(,[0-9a-f]{32}){0,${MAX_VALUES - 1}}$`,
    description: 'one guid or several, separated by commas',
  }),
);

export const wordsFilter = Type.Optional(
  Type.String({
    pattern: `^[a-z_.]{1,64}(,[a-z_.]{1,64}){0,${MAX_VALUES - 1}}$`,
    description: 'one value or several, separated by commas',
  }),
);

const MAX_TEXTS_CHARACTERS = 512;

export function textsFilter(description: string) {
  return Type.Optional(
    Type.String({
      maxLength: MAX_TEXTS_CHARACTERS,
      description: `${description}; several, separated by commas`,
    }),
  );
}

/** The format lets a leap second and an offset without minutes through, neither of which `Date` can read. */
const Moment = Type.Optional({
  ...Timestamp,
  pattern: ':[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$',
});

export const environmentsFilter = Type.Optional(
  Type.String({
    pattern: '^(production|sandbox)(,(production|sandbox))?$',
    description: 'production, sandbox or both, separated by a comma',
  }),
);

export const createdAtFilters = { created_at_gte: Moment, created_at_lt: Moment };

export function values(text: string | undefined): string[] | undefined {
  return text?.split(',');
}

export function moment(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
