import Type, { type TObject, type TSchema } from 'typebox';
import type { Details } from './machine.ts';

/**
 * Money in the smallest unit of its asset: a number while JSON numbers are exact, a string of digits beyond. A larger
 * JSON number may have been rounded before it arrived, so it is refused.
 */
export type Units = number | string;

const MAX_NUMBER = Number.MAX_SAFE_INTEGER;
const FORMS = `a number up to ${MAX_NUMBER}, a string of at most 38 digits beyond; a request may use a string for any`;

function unitsSchema(title: string, minimum: 0 | 1, pattern: string) {
  const description = `In the smallest unit of the asset: ${FORMS}`;
  return Type.Unsafe<Units>({
    ...{ title, type: ['integer', 'string'], minimum, maximum: MAX_NUMBER, pattern },
    ...{ description, example: 250_000 },
  });
}

export const Amount = unitsSchema('Amount', 1, '^[1-9][0-9]{0,37}$');
export const Balance = unitsSchema('Balance', 0, '^(0|[1-9][0-9]{0,37})$');
const TITLES: ReadonlySet<unknown> = new Set(['Amount', 'Balance']);

export function toUnits(value: Units): bigint {
  return BigInt(value);
}

export function fromUnits(units: bigint): Units {
  return units <= MAX_NUMBER ? Number(units) : String(units);
}

/** Details with one form for each amount, so that equal amounts compare as equal. */
export function normaliseAmounts({ properties }: TObject, details: Details): Details {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      isAmount(properties[name]) ? fromUnits(toUnits(value as Units)) : value,
    ]),
  );
}

function isAmount(schema: TSchema | undefined): boolean {
  return TITLES.has((schema as { title?: string } | undefined)?.title);
}
