import { Failure } from '../infrastructure/runtime/failure.ts';
import type { Details } from './machine.ts';

/** From a full reserve to an empty one. */
export const LEVELS = ['funded', 'low', 'below_minimum'] as const;
type Level = (typeof LEVELS)[number];

/** Below which balance an account is at that level. */
const THRESHOLDS = { low: 'low_balance', below_minimum: 'minimum_balance' } as const;
type Short = keyof typeof THRESHOLDS;

export function levelOf(details: Details): Level {
  const isBelow = (level: Short) =>
    details.balance !== undefined && Number(details.balance) < Number(details[THRESHOLDS[level]]);
  if (isBelow('below_minimum')) return 'below_minimum';
  return isBelow('low') ? 'low' : 'funded';
}

/** The highest balance of that level. */
export function withLevel(details: Details, level: string): Details {
  return { ...details, balance: Number(details[THRESHOLDS[level as Short]]) - 1 };
}

/** The levels that a balance sank to on its way; a new account has sunk from above. */
export function thresholdsPassed(from: string | undefined, to: string): readonly Level[] {
  const rank = (level: string) => LEVELS.indexOf(level as Level);
  return LEVELS.slice(from === undefined ? 1 : rank(from) + 1, rank(to) + 1);
}

/** A simulation lowers the balance below what the account itself names. */
export function refuseReserve(details: Details, path: readonly string[]): Failure | undefined {
  const { low_balance: low, minimum_balance: minimum } = details;
  if (low !== undefined && minimum !== undefined && Number(low) <= Number(minimum))
    return new Failure('invalid_parameter', 'low_balance must be more than minimum_balance');
  for (const level of ['low', 'below_minimum'] as const)
    if (path.includes(level) && details[THRESHOLDS[level]] === undefined)
      return new Failure('missing_parameter', `${THRESHOLDS[level]} is required to simulate ${path.at(-1)}`);
  return undefined;
}
