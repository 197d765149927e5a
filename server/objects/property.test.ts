import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { createTestApp } from '../../testing/app/app.ts';
import { nextGuid } from '../../testing/objects/customers.ts';
import { newObject, report, reportOf, typeOf } from '../../testing/objects/objects.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';
import { canTransition, endingsOf, kindsOf, type Machine, statesOf } from './machine.ts';
import { LEVELS } from './reserve.ts';
import { OBJECT_TYPES } from './types.ts';

/**
 * For any order and concurrency of reports and simulator rounds: every event is an allowed transition, and every
 * transition has its events.
 */
const app = await createTestApp();
const other = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
const owner = await createCallers(app);
const DELAY_MS = 1_000;

async function stateOf(guid: string): Promise<string> {
  const { state } = await app.database.queries
    .selectFrom('objects')
    .select('state')
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  return String(state);
}

/** Advances time by one step for two nodes at once. */
async function simulate(): Promise<void> {
  app.clock.advance(DELAY_MS);
  await Promise.all([app.simulator.drain(), other.simulator.drain()]);
}

/** On one node: guids of two nodes have no order within a millisecond, and the order of events matters here. */
async function simulateDuring(action: Promise<unknown>): Promise<void> {
  app.clock.advance(DELAY_MS);
  await Promise.all([app.simulator.drain(), action]);
}

type Step = { kind: 'put'; state: string } | { kind: 'simulate' } | { kind: 'both'; state: string };

function stepsOf(states: readonly string[]): fc.Arbitrary<Step[]> {
  const state = fc.constantFrom(...states);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('put' as const), state }),
    fc.record({ kind: fc.constant('simulate' as const) }),
    fc.record({ kind: fc.constant('both' as const), state }),
  );
  return fc.array(step, { minLength: 1, maxLength: 8 });
}

const STATEFUL = OBJECT_TYPES.filter(
  (type): type is typeof type & { machine: Machine } => !!type.machine && !type.machine.derived,
);

for (const type of STATEFUL) {
  const { name, plural, machine } = type;
  const isAnnounced = (state: string) => kindsOf(machine, undefined, state).length > 0;

  test(`${name}: the events are the transitions, all of them allowed`, async () => {
    const start = fc.record({
      created: fc.boolean(),
      ending: fc.constantFrom(...endingsOf(machine)),
      first: fc.constantFrom(...statesOf(machine)),
    });
    await fc.assert(
      fc.asyncProperty(start, stepsOf(statesOf(machine)), async ({ created, ending, first }, steps) => {
        const guid = created ? await create(ending) : nextGuid(app);
        const put = (state: string) => report(app, type, guid, reportOf(type, owner, { state }));
        if (!created) assert.equal((await put(first)).status, 200);
        const emitted = async () =>
          (await eventTypesOf(app, guid)).map((event) => event.slice(name.length + 1));
        let before = await stateOf(guid);
        let eventsBefore = (await emitted()).length;
        for (const step of steps) {
          app.clock.advance(1);
          if (step.kind === 'simulate') await simulate();
          else if (step.kind === 'both') await simulateDuring(put(step.state));
          else {
            const { status, body } = await put(step.state);
            const allowed = step.state === before || canTransition(machine, before, step.state);
            assert.equal(status, allowed ? 200 : 409, `${before} → ${step.state}: ${JSON.stringify(body)}`);
          }
          const state = await stateOf(guid);
          const now = await emitted();
          if (isAnnounced(state as string))
            assert.equal(now.at(-1), state, 'the last event has the current state');
          // A report and a simulator round at once may each make a transition; otherwise there is one.
          const moves = now.length - eventsBefore;
          const expected = state === before || !isAnnounced(state as string) ? 0 : 1;
          if (step.kind !== 'both') assert.equal(moves, expected, `${before} → ${state}`);
          before = state;
          eventsBefore = now.length;
        }
        const states = await emitted();
        const initial = created ? 'storing' : first;
        if (isAnnounced(initial)) assert.equal(states[0], initial);
        for (const [index, to] of states.slice(1).entries())
          assert.ok(canTransition(machine, states[index] as string, to), `${states[index]} → ${to}`);
      }),
      { numRuns: 25 },
    );
  });

  async function create(ending: string): Promise<string> {
    const { body } = await app.call({
      method: 'POST',
      url: `/api/${plural}`,
      token: await issueToken(app, owner, 'bank'),
      payload: { ...(await newObject(app, type, owner)), simulate: ending },
    });
    return String(body.guid);
  }
}

test('account: each threshold that a balance falls below emits one event', async () => {
  const account = typeOf('account');
  const details = { type: 'reserve', asset: 'USD', low_balance: 200, minimum_balance: 100 };
  const levelOf = (balance: number) => (balance < 100 ? 2 : balance < 200 ? 1 : 0);
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.constantFrom('low', 'below_minimum'), { nil: undefined }),
      fc.array(fc.option(fc.integer({ min: 0, max: 300 })), { minLength: 1, maxLength: 10 }),
      async (ending, steps) => {
        const { body } = await app.call({
          method: 'POST',
          url: '/api/accounts',
          token: await issueToken(app, owner, 'bank'),
          payload: { ...details, balance: 300, ...(ending && { simulate: ending }) },
        });
        const guid = String(body.guid);
        const expected: string[] = [];
        let level = 0;
        let shown = 300;
        let simulated = ending === undefined ? 0 : LEVELS.indexOf(ending as 'low');
        for (const balance of steps) {
          let next = level;
          if (balance !== null) {
            next = levelOf(balance);
            // A changed balance ends the simulation.
            if (balance !== shown) simulated = 0;
            shown = balance;
            const payload = { bank_guid: owner.bankGuid, details: { ...details, balance } };
            assert.equal((await report(app, account, guid, payload)).status, 200);
          } else {
            await simulateDuring(Promise.resolve());
            next = Math.max(level, Math.min(level + 1, simulated));
            if (next !== level) shown = next === 1 ? 199 : 99;
          }
          expected.push(...LEVELS.slice(level + 1, next + 1));
          level = next;
          assert.equal(await stateOf(guid), LEVELS[level]);
        }
        const emitted = (await eventTypesOf(app, guid)).map((event) => event.split('.').at(-1));
        assert.deepEqual(emitted, expected);
      },
    ),
    { numRuns: 20 },
  );
});
