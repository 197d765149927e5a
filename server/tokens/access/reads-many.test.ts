import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { createTestApp } from '../../../testing/app/app.ts';

const CHANNEL = 'fastify.initialization';
/** Without `per_page`, but as expensive as a list. */
const DECLARED = [
  '/api/audit_entries.csv',
  '/api/delivery_statistics',
  '/api/subscription_recovery_previews/:subscription_guid',
  '/api/subscription_targets',
];

const routes: RouteOptions[] = [];
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => void routes.push(route));
subscribe(CHANNEL, collect);
await createTestApp();
unsubscribe(CHANNEL, collect);

test('lists and the declared routes count as reads of many objects, and no others do', () => {
  const paths = (matches: (route: RouteOptions) => boolean) =>
    routes
      .filter((route) => route.method === 'GET' && route.url.startsWith('/api/') && matches(route))
      .map(({ url }) => url)
      .toSorted();
  const paged = paths(({ schema }) => JSON.stringify(schema?.querystring ?? {}).includes('"per_page"'));
  assert.ok(paged.includes('/api/transfers'), String(paged));
  assert.deepEqual(
    paths(({ config }) => config?.readsMany === true),
    [...paged, ...DECLARED].toSorted(),
  );
  assert.deepEqual(
    routes.filter(({ method, config }) => method === 'POST' && config?.readsMany),
    [],
  );
});
