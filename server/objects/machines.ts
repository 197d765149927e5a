import type { Machine } from './machine.ts';
import { LEVELS, levelOf, thresholdsCrossed, withLevel } from './reserve.ts';

/**
 * The state machines of all object types. The specification implies the states by its events but does not show
 * the transitions, so these are our choice. `docs/partners/objects.md` is generated from this file.
 */
const DAY_MS = 24 * 3_600_000;
/** How long an identity verification waits for the customer. */
const VERIFICATION_WAITS_MS = DAY_MS;

export const trade: Machine = {
  transitions: {
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
  transitions: {
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
  transitions: {
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
  transitions: {
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
  transitions: {
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

const DELETION = ['deleting', 'deleted'] as const;

/** A refresh starts again from `storing`. */
export const externalBankAccount: Machine = {
  transitions: {
    storing: ['completed', 'failed', 'expired', ...DELETION],
    completed: ['storing', 'expired', ...DELETION],
    failed: ['storing', ...DELETION],
    expired: ['storing', ...DELETION],
    deleting: ['deleted'],
    deleted: [],
  },
  paths: [
    ['storing', 'completed'],
    ['storing', 'failed'],
    ['storing', 'completed', 'expired'],
  ],
  deletion: DELETION,
  // The specification names no events for a deletion.
  kindsOf: (_from, to) => (to === 'deleting' || to === 'deleted' ? [] : [to]),
};

/** The specification names no events for deposit addresses and workflows. */
const NO_EVENTS = () => [];

export const depositAddress: Machine = {
  transitions: { storing: ['created'], created: [] },
  paths: [['storing', 'created']],
  kindsOf: NO_EVENTS,
};

export const workflow: Machine = {
  transitions: { storing: ['completed', 'failed'], completed: [], failed: [] },
  paths: [
    ['storing', 'completed'],
    ['storing', 'failed'],
  ],
  kindsOf: NO_EVENTS,
};

/** The level of an account's reserve follows its balance. Only falling below a threshold emits an event. */
export const account: Machine = {
  transitions: Object.fromEntries(LEVELS.map((level) => [level, LEVELS.filter((other) => other !== level)])),
  paths: [['funded'], ['funded', 'low', 'below_minimum']],
  kindsOf: (from, to) => thresholdsCrossed(from, to).map((level) => `balance_funding_pull.${level}`),
  derived: { stateOf: levelOf, reach: withLevel },
};
