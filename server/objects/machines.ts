import type { Machine } from './machine.ts';
import { LEVELS, levelOf, thresholdsPassed, withLevel } from './reserve.ts';

/**
 * The lives of all kinds of objects. The states are those that the specification's events imply; it does not show the
 * moves between them, so these are the ones that make sense of the names. `docs/partners/objects.md` is printed from this.
 */
const DAY_MS = 24 * 3_600_000;
/** How long an identity verification waits for its customer. */
const VERIFICATION_WAITS_MS = DAY_MS;

export const trade: Machine = {
  moves: {
    storing: ['pending', 'failed', 'cancelled'],
    pending: ['executed', 'failed', 'cancelled'],
    executed: ['settling', 'failed'],
    settling: ['completed', 'failed'],
    completed: [],
    failed: [],
    cancelled: [],
  },
  paths: [
    ['storing', 'pending', 'executed', 'settling', 'completed'],
    ['storing', 'pending', 'failed'],
    ['storing', 'pending', 'cancelled'],
  ],
};

export const transfer: Machine = {
  moves: {
    storing: ['pending', 'holding', 'reviewing', 'failed'],
    pending: ['holding', 'reviewing', 'completed', 'failed'],
    holding: ['pending', 'reviewing', 'completed', 'failed'],
    reviewing: ['pending', 'holding', 'completed', 'failed'],
    completed: [],
    failed: [],
  },
  paths: [
    // Specification, Events, rule 1.
    ['storing', 'reviewing', 'completed'],
    ['storing', 'reviewing', 'failed'],
    ['storing', 'pending', 'holding'],
  ],
};

export const identityVerification: Machine = {
  moves: {
    storing: ['waiting', 'pending'],
    waiting: ['pending', 'reviewing', 'expired'],
    pending: ['waiting', 'reviewing', 'completed', 'expired'],
    reviewing: ['waiting', 'completed', 'expired'],
    completed: [],
    expired: [],
  },
  paths: [
    ['storing', 'pending', 'reviewing', 'completed'],
    ['storing', 'waiting', 'expired'],
  ],
  timeouts: { waiting: { to: 'expired', afterMs: VERIFICATION_WAITS_MS } },
};

export const plan: Machine = {
  moves: {
    storing: ['planning', 'failed'],
    planning: ['completed', 'failed'],
    completed: [],
    failed: [],
  },
  paths: [
    ['storing', 'planning', 'completed'],
    ['storing', 'planning', 'failed'],
  ],
};

export const execution: Machine = {
  moves: {
    storing: ['executing', 'failed'],
    executing: ['completed', 'failed'],
    completed: [],
    failed: [],
  },
  paths: [
    ['storing', 'executing', 'completed'],
    ['storing', 'executing', 'failed'],
  ],
};

export const externalBankAccount: Machine = {
  moves: {
    storing: ['completed', 'failed', 'expired'],
    completed: ['expired'],
    failed: [],
    expired: [],
  },
  paths: [
    ['storing', 'completed'],
    ['storing', 'failed'],
    ['storing', 'completed', 'expired'],
  ],
};

/** The level of an account's reserve, which goes up and down with its balance. Only the way down is told. */
export const account: Machine = {
  moves: Object.fromEntries(LEVELS.map((level) => [level, LEVELS.filter((other) => other !== level)])),
  paths: [['funded'], ['funded', 'low', 'below_minimum']],
  kindsOf: (from, to) => thresholdsPassed(from, to).map((level) => `balance_funding_pull.${level}`),
  derived: { stateOf: levelOf, reach: withLevel },
};
