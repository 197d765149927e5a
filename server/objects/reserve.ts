import { Failure } from '../infrastructure/runtime/failure.ts';
import type { Details } from './machine.ts';
import { fromUnits, toUnits, type Units } from './money.ts';

/** From the highest to the lowest balance. */
export const LEVELS = ['funded', 'low', 'below_minimum'] as const;
type Level = (typeof LEVELS)[number];

/** The field with the balance below which each level begins. */
const THRESHOLDS = { low: 'low_balance', below_minimum: 'minimum_balance' } as const;
type Short = keyof typeof THRESHOLDS;

export function levelOf(details: Details): Level {
  const balance = unitsIn(details, 'balance');
  const isBelow = (level: Short) => {
    const threshold = unitsIn(details, THRESHOLDS[level]);
    return balance !== undefined && threshold !== undefined && balance < threshold;
  };
  if (isBelow('below_minimum')) return 'below_minimum';
  return isBelow('low') ? 'low' : 'funded';
}

/** The highest balance of the level. */
export function withLevel(details: Details, level: string): Details {
  const threshold = unitsIn(details, THRESHOLDS[level as Short]) ?? 1n;
  return { ...details, balance: fromUnits(threshold - 1n) };
}

function unitsIn(details: Details, field: string): bigint | undefined {
  const units = details[field] as Units | undefined;
  return units === undefined ? undefined : toUnits(units);
}

/** The levels that a balance fell to; a new account starts above all thresholds. */
export function thresholdsCrossed(from: string | undefined, to: string): readonly Level[] {
  const rank = (level: string) => LEVELS.indexOf(level as Level);
  return LEVELS.slice(from === undefined ? 1 : rank(from) + 1, rank(to) + 1);
}

/** A simulation needs the thresholds that it crosses, and only lowers the balance. */
export function refuseReserve(details: Details, path: readonly string[]): Failure | undefined {
  const [low, minimum] = [unitsIn(details, 'low_balance'), unitsIn(details, 'minimum_balance')];
  if (low !== undefined && minimum !== undefined && low <= minimum)
    return new Failure('invalid_parameter', 'low_balance must be greater than minimum_balance');
  for (const level of ['low', 'below_minimum'] as const)
    if (path.includes(level) && details[THRESHOLDS[level]] === undefined)
      return new Failure('missing_parameter', `${THRESHOLDS[level]} is required to simulate ${path.at(-1)}`);
  if (path.at(-1) === 'low' && levelOf(details) === 'below_minimum')
    return new Failure('invalid_parameter', 'balance must be at least minimum_balance to simulate low');
  return undefined;
}
