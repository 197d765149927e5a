import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createTestApp } from '../../testing/app/app.ts';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { listenAnywhere } from '../../testing/app/http-server.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createTokenCache } from './token-cache.ts';

const app = await createTestApp({ clock: createFakeClock(new Date()) });
const url = `http://127.0.0.1:${await listenAnywhere(app.server)}`;

async function createCache() {
  const { bankKey } = await createTenant(app);
  const settings = {
    ...{ tokenUrl: `${url}/oauth/token`, clientId: bankKey.clientId, clientSecret: bankKey.secret },
    scopes: ['customers:read'],
  };
  return { cache: createTokenCache(settings), settings };
}

test('many callers share one token, until a minute before it expires', async (t) => {
  const { cache } = await createCache();
  const requests = t.mock.method(globalThis, 'fetch');
  const tokens = await Promise.all(Array.from({ length: 20 }, () => cache.get()));
  assert.equal(new Set([...tokens, await cache.get()]).size, 1);
  assert.equal(requests.mock.callCount(), 1);
  const later = Date.now() + 1_741_000;
  mock.method(Date, 'now', () => later);
  await cache.get();
  assert.equal(requests.mock.callCount(), 2);
});

test('a revoked token is renewed and the call repeated once', async () => {
  const { cache, settings } = await createCache();
  const before = await cache.get();
  const { clientId: client_id, clientSecret: client_secret } = settings;
  const payload = { client_id, client_secret, token: before };
  assert.equal((await app.call({ method: 'POST', url: '/oauth/revoke', payload })).status, 200);
  const responses = await Promise.all([1, 2, 3].map(() => cache.fetch(`${url}/api/customers`)));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.notEqual(await cache.get(), before);
});

test('a wrong secret is an error that says so, and the next call tries again', async () => {
  const { settings } = await createCache();
  const cache = createTokenCache({ ...settings, clientSecret: 'wrong' });
  for (const _ of [1, 2]) await assert.rejects(cache.get(), /no token: 401/);
});
