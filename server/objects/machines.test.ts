import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopesFor } from '../tokens/scopes.ts';
import { EVENT_TYPES } from '../webhooks/events/catalogue.ts';
import {
  canTransition,
  endingsOf,
  firstStateOf,
  kindsOf,
  type Machine,
  pathTo,
  statesOf,
} from './machine.ts';
import { OBJECT_TYPES } from './types.ts';

/** The rules for the tables of object types, for everyone who adds a row. */
const TYPES = OBJECT_TYPES.filter((type): type is typeof type & { machine: Machine } => !!type.machine);

/** The states of the specification, by hand; the levels of a reserve are our own. */
const STATES: Record<string, string> = {
  trade: 'storing pending executed settling completed failed cancelled',
  transfer: 'storing pending holding reviewing completed failed',
  identity_verification: 'storing pending reviewing waiting expired completed',
  plan: 'storing planning completed failed',
  execution: 'storing executing completed failed',
  external_bank_account: 'storing completed failed expired deleting deleted',
  deposit_address: 'storing created',
  workflow: 'storing completed failed',
  account: 'funded low below_minimum',
};

test('every object type of the contract exists, and those with states have a machine', () => {
  assert.deepEqual(OBJECT_TYPES.map(({ plural }) => plural).sort(), [
    ...['accounts', 'customers', 'deposit_addresses', 'executions', 'external_bank_accounts'],
    ...['identity_verifications', 'plans', 'quotes', 'trades', 'transfers', 'workflows'],
  ]);
  assert.deepEqual(TYPES.map(({ name }) => name).sort(), Object.keys(STATES).sort());
});

test('partners have the scopes of every object type', () => {
  for (const { plural, changeable } of OBJECT_TYPES)
    for (const action of ['read', 'execute', ...(changeable ? ['write'] : [])])
      assert.ok(scopesFor('bank').includes(`${plural}:${action}`), `${plural}:${action}`);
});

for (const { name, machine } of TYPES) {
  const states = statesOf(machine);

  test(`${name}: the states are those of the specification`, () => {
    assert.deepEqual([...states].sort(), STATES[name]?.split(' ').sort());
  });

  test(`${name}: every transition leads to another existing state`, () => {
    for (const [from, targets] of Object.entries(machine.transitions)) {
      assert.equal(new Set(targets).size, targets.length, from);
      for (const to of targets) assert.ok(states.includes(to) && to !== from, `${from} → ${to}`);
    }
  });

  test(`${name}: every simulator path starts at the initial state and has only allowed transitions`, () => {
    for (const path of machine.paths) {
      assert.equal(path[0], firstStateOf(machine));
      for (const [index, to] of path.slice(1).entries())
        assert.ok(canTransition(machine, path[index] as string, to), path.join(' → '));
    }
    for (const [from, { to, afterMs }] of Object.entries(machine.timeouts ?? {}))
      assert.ok(canTransition(machine, from, to) && afterMs > 0, `${from} → ${to}`);
  });

  test(`${name}: a deletion may start in every other state, and is final`, () => {
    const [deleting = '', deleted = ''] = machine.deletion ?? [];
    if (deleting === '') return;
    for (const state of states)
      assert.equal(canTransition(machine, state, deleting), state !== deleting && state !== deleted, state);
    assert.deepEqual([machine.transitions[deleting], machine.transitions[deleted]], [[deleted], []]);
  });

  test(`${name}: the simulator can end in every state except the first and those of a deletion`, () => {
    const deletion: readonly string[] = machine.deletion ?? [];
    assert.deepEqual(
      endingsOf(machine),
      states.slice(1).filter((state) => !deletion.includes(state)),
    );
    for (const state of deletion) assert.equal(pathTo(machine, state).at(-1), state);
    for (const ending of endingsOf(machine)) assert.equal(pathTo(machine, ending).at(-1), ending);
    assert.deepEqual(pathTo(machine, undefined), machine.paths[0]);
  });

  test(`${name}: the events of all transitions are exactly those of the catalogue`, () => {
    const emitted = new Set<string>();
    for (const from of [undefined, ...states])
      for (const to of from === undefined ? states : (machine.transitions[from] ?? []))
        for (const kind of kindsOf(machine, from, to)) emitted.add(`${name}.${kind}`);
    const known = EVENT_TYPES.filter((type) => type.startsWith(`${name}.`));
    assert.deepEqual([...emitted].sort(), known.toSorted());
  });
}
