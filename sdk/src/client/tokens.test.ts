import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createSdkService, errorResponse } from '../../../testing/packages/sdk.ts';
import { Portico } from './portico.ts';

const service = await createSdkService();
const { app, sent, tenant } = service;
const LIFETIME_MS = 1_800_000;

function tokenRequests(): number {
  return sent.splice(0).filter(({ path }) => path === '/oauth/token').length;
}

test('many callers share one token request', async () => {
  const portico = service.portico();
  await Promise.all(Array.from({ length: 20 }, () => portico.banks.get(tenant.bankGuid)));
  await portico.banks.get(tenant.bankGuid);
  assert.equal(tokenRequests(), 1);
});

test('a token holds the scopes that were asked for, of the key pair', async () => {
  const portico = service.portico({ scopes: ['banks:read', 'customers:read'] });
  await portico.banks.list().toArray({ limit: 1 });
  const { body } = sent.find(({ path }) => path === '/oauth/token') ?? {};
  assert.equal((body as { scope: string }).scope, 'banks:read customers:read');
  await assert.rejects(portico.transfers.list().toArray({ limit: 1 }), { name: 'InvalidScopesError' });
  sent.length = 0;
});

/** A client in virtual time, whose issuer can be replaced. */
function createClient(maxRetries = 3) {
  const clock = createFakeClock();
  const issuer: { requests: number; answer?: (signal: AbortSignal) => Response | Promise<Response> } = {
    requests: 0,
  };
  const issue = () =>
    Response.json({ access_token: `token ${issuer.requests}`, token_type: 'Bearer', expires_in: 1_800 });
  const portico = new Portico(
    { clientId: 'c', clientSecret: 's', scopes: ['banks:read'], maxRetries },
    {
      async fetch(_url, { signal }) {
        issuer.requests += 1;
        return issuer.answer?.(signal as AbortSignal) ?? issue();
      },
      now: () => clock.now().getTime(),
      after: clock.after,
      random: () => 0.5,
    },
  );
  return { portico, clock, issuer, issue };
}

const overloaded = () => errorResponse(503, 'overloaded');
const hanging = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

test('a token is renewed a minute before it expires', async () => {
  const { portico, clock, issuer } = createClient();
  assert.equal(await portico.token(), 'token 1');
  clock.advance(LIFETIME_MS - 60_001);
  assert.equal(await portico.token(), 'token 1');
  clock.advance(1);
  assert.equal(await portico.token(), 'token 2');
  assert.equal(issuer.requests, 2);
  assert.equal(clock.waiting(), 0);
});

test('while a renewal fails the old token is used, until it has expired', async () => {
  const { portico, clock, issuer } = createClient(0);
  await portico.token();
  clock.advance(LIFETIME_MS - 60_000);
  issuer.answer = overloaded;
  assert.deepEqual([await portico.token(), await portico.token()], ['token 1', 'token 1']);
  assert.equal(issuer.requests, 2, 'not with every call');
  clock.advance(60_000);
  await assert.rejects(portico.token(), { name: 'OverloadedError' });
  delete issuer.answer;
  assert.equal(await portico.token(), 'token 4');
});

test('while a renewal hangs or pauses, calls wait a second at most for it, until the token has expired', async () => {
  for (const outage of [
    hanging,
    () => errorResponse(403, 'rate_limit_exceeded', { 'retry-after': '30' }),
    overloaded,
  ]) {
    const { portico, clock, issuer } = createClient();
    await portico.token();
    clock.advance(LIFETIME_MS - 60_000);
    issuer.answer = outage;
    const used: string[] = [];
    const call = () => void portico.token().then((token) => used.push(token));
    call();
    call();
    await setImmediate();
    clock.advance(1_000);
    await setImmediate();
    call();
    await setImmediate();
    assert.deepEqual(used, Array(3).fill('token 1'), 'the last one at once');
    clock.advance(59_000);
    delete issuer.answer;
    const renewed = portico.token();
    let ended = false;
    renewed.finally(() => {
      ended = true;
    });
    for (await setImmediate(); !ended; await setImmediate()) clock.advance(1_000);
    assert.equal(await renewed, `token ${issuer.requests}`);
  }
});

test('a call whose token expires while it waits gets the renewed one', async () => {
  const { portico, clock, issuer, issue } = createClient();
  await portico.token();
  clock.advance(LIFETIME_MS - 500);
  const { promise, resolve } = Promise.withResolvers<Response>();
  issuer.answer = () => promise;
  const renewed = portico.token();
  await setImmediate();
  clock.advance(1_000);
  await setImmediate();
  resolve(issue());
  assert.equal(await renewed, 'token 2');
});

test('a call sends one token request and maxRetries more while the issuer fails, shared by all callers', async () => {
  service.intercept(({ path }) => (path === '/oauth/token' ? errorResponse(503, 'overloaded') : undefined));
  const failing = { name: 'OverloadedError' };
  await assert.rejects(service.portico().banks.get(tenant.bankGuid), failing);
  assert.equal(tokenRequests(), 4);
  const portico = service.portico({ maxRetries: 1 });
  await assert.rejects(portico.banks.get(tenant.bankGuid), failing);
  assert.equal(tokenRequests(), 2);
  for (const maxRetries of [0, 2]) {
    await assert.rejects(portico.customers.update('g', { name: 'One' }, { maxRetries }), failing);
    assert.equal(tokenRequests(), maxRetries + 1, 'also for a change, which is not repeated itself');
    await assert.rejects(portico.token({ maxRetries }), failing);
    assert.equal(tokenRequests(), maxRetries + 1);
    const calls = Array.from({ length: 20 }, () => portico.banks.get(tenant.bankGuid, { maxRetries }));
    await Promise.all(calls.map((call) => assert.rejects(call, failing)));
    assert.equal(tokenRequests(), maxRetries + 1, 'of 20 callers');
  }
  service.intercept(() => undefined);
});

test('the retries of a call do not depend on the other callers of a shared token request', async () => {
  service.intercept(({ path }, nth) =>
    path === '/oauth/token' && nth <= 2 ? errorResponse(503, 'overloaded') : undefined,
  );
  const portico = service.portico();
  const impatient = portico.token({ maxRetries: 0 });
  const patient = portico.token({ maxRetries: 2 });
  await assert.rejects(impatient, { name: 'OverloadedError' });
  assert.match(await patient, /^ey/);
  assert.equal(tokenRequests(), 3);
  service.intercept(() => undefined);
});

test('a token request that fails after its only caller stopped waiting is no unhandled rejection', async () => {
  const portico = service.portico();
  service.intercept(() => new TypeError('fetch failed'));
  await assert.rejects(portico.token({ signal: AbortSignal.abort(new Error('enough')) }), {
    message: 'enough',
  });
  await setImmediate();
  assert.equal(tokenRequests(), 1);
  service.intercept(() => undefined);
});

test('a refused token is renewed once, also for writes, by one request of all callers', async () => {
  const portico = service.portico();
  const { guid } = await portico.customers.create({ type: 'individual', bank_guid: tenant.bankGuid });
  const { clientId: client_id, secret: client_secret } = tenant.organizationKey;
  const payload = { client_id, client_secret, token: await portico.token() };
  await app.call({ method: 'POST', url: '/oauth/revoke', payload });
  tokenRequests();
  const names = ['One', 'Two', 'Three'];
  await Promise.all(names.map((name) => portico.customers.update(guid, { name })));
  assert.equal(tokenRequests(), 1);

  service.intercept(({ path }) =>
    path === '/oauth/token' ? undefined : errorResponse(401, 'authentication_failed'),
  );
  await assert.rejects(portico.customers.get(guid), { name: 'AuthenticationFailedError' });
  assert.equal(sent.filter(({ path }) => path.startsWith('/api/')).length, 2);
  service.intercept(() => undefined);
  tokenRequests();
});

test('a given token is not renewed, unless by its function', async () => {
  const fixed = new Portico({ token: 'not-a-token' }, service.runtime);
  await assert.rejects(fixed.banks.get(tenant.bankGuid), { status: 401 });
  assert.equal(sent.splice(0).length, 1);
  const tokens = ['not-a-token', await service.portico().token()];
  const renewing = new Portico({ token: async () => tokens.shift() ?? '' }, service.runtime);
  assert.equal((await renewing.banks.get(tenant.bankGuid)).guid, tenant.bankGuid);
  sent.length = 0;
});

test('a call that was stopped leaves no rejection of its token function unhandled', async () => {
  const failing = new Portico({ token: () => Promise.reject(new Error('away')) }, service.runtime);
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(failing.token({ signal }), { message: 'enough' });
});

test('one caller can stop waiting for a token that others wait for', async () => {
  const portico = service.portico();
  const controller = new AbortController();
  const stopped = portico.token({ signal: controller.signal });
  const other = portico.token();
  controller.abort(new Error('enough'));
  await assert.rejects(stopped, { message: 'enough' });
  assert.match(await other, /^ey/);
  assert.equal(tokenRequests(), 1);
});

test('a wrong secret is an error of its class, and a sandbox token is not taken for a production one', async () => {
  await assert.rejects(service.portico({ clientSecret: 'wrong' }).token(), {
    name: 'InvalidClientError',
    status: 401,
  });
  const authUrl = 'http://localhost:4000';
  await assert.rejects(service.portico({ environment: 'production', authUrl, baseUrl: authUrl }).token(), {
    name: 'ConfigurationError',
    message: /issues tokens of the environment sandbox, not production/,
  });
});

test('an issuer or a function that returns no token is a mistake of the configuration, not a call without one', async () => {
  for (const answer of [{}, { access_token: '' }]) {
    service.intercept(({ path }) => (path === '/oauth/token' ? Response.json(answer) : undefined));
    await assert.rejects(service.portico().banks.get(tenant.bankGuid), {
      ...{ name: 'ConfigurationError', message: /issued no token; set authUrl/ },
    });
  }
  service.intercept(() => undefined);
  sent.length = 0;
  for (const none of [undefined, '']) {
    const portico = new Portico({ token: () => none as string }, service.runtime);
    await assert.rejects(portico.banks.get(tenant.bankGuid), { name: 'ConfigurationError' });
  }
  assert.deepEqual(sent, []);
});
