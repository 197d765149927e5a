import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES } from './catalogue.ts';

/** Copied from the specification and the contract, not from the code. */
const TABLE: Record<string, string> = {
  trade: 'storing pending executed settling completed failed cancelled',
  transfer: 'storing pending holding reviewing completed failed',
  identity_verification: 'storing pending reviewing waiting expired completed',
  plan: 'storing planning completed failed',
  execution: 'storing executing completed failed',
  account: 'balance_funding_pull.low balance_funding_pull.below_minimum',
  bank: 'created updated',
  subscription: 'storing failed deleting deleted',
  external_bank_account: 'storing completed failed expired',
};

test('the catalogue has exactly the event types of the specification', () => {
  const expected = Object.entries(TABLE).flatMap(([object, kinds]) =>
    kinds.split(' ').map((kind) => `${object}.${kind}`),
  );
  assert.equal(expected.length, 39);
  assert.deepEqual([...EVENT_TYPES].sort(), expected.sort());
});
