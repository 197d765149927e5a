import assert from 'node:assert/strict';
import { type Answer, assertError, type TestApp } from '../app/app.ts';
import type { Tenant } from '../app/tenant.ts';
import { eventOf } from './events.ts';

/** Calls of POST /operator/events with events of one tenant. */
export function createIngestCalls(app: TestApp, tenant: Tenant) {
  const stored = () => app.database.queries.selectFrom('events').selectAll().orderBy('guid').execute();

  async function published(): Promise<number> {
    const { values } = await app.metrics.eventsPublished.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  return {
    send: (...events: object[]) => app.operate('POST', '/events', { events }),
    event: (fields: Record<string, unknown> = {}) => eventOf(app, tenant, fields),
    stored,
    published,

    /** Asserts that a refused request stored no event and counted none. */
    async assertRefused(
      request: () => Promise<Answer>,
      ...refusal: [status: number, code: string, message: RegExp]
    ): Promise<void> {
      const before = [await stored(), await published()];
      assertError(await request(), ...refusal);
      assert.deepEqual([await stored(), await published()], before);
    },
  };
}
