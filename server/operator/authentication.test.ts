import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp, OPERATOR_TOKEN, type TestApp } from '../../testing/app/app.ts';

const app = await createTestApp();
const WRONG = 'portico_op_this-is-not-the-operator-token';
const WINDOW_MS = 300_000;
let lastAddress = 0;

/** An address that no other test uses. */
function newAddress(): string {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
}

function ask(remoteAddress: string, token: string | undefined, from: TestApp = app, headers = {}) {
  const options = { url: '/operator/organizations', remoteAddress, headers };
  return from.call(token === undefined ? options : { ...options, token });
}

async function failOften(times: number, address: string, from: TestApp = app): Promise<void> {
  for (let i = 0; i < times; i++) assertError(await ask(address, WRONG, from), 401, 'authentication_failed');
}

test('the right token is accepted, with any case of Bearer', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${OPERATOR_TOKEN}` };
    assert.equal((await ask(newAddress(), undefined, app, headers)).status, 200);
  }
});

test('a missing or malformed header is authentication_malformed', async () => {
  const address = newAddress();
  assertError(await ask(address, undefined), 401, 'authentication_malformed');
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    OPERATOR_TOKEN,
    `Basic ${OPERATOR_TOKEN}`,
    `Bearer ${OPERATOR_TOKEN} x`,
    `Bearer  ${OPERATOR_TOKEN}`,
    `Bearer ${'x'.repeat(513)}`,
    'Bearer übergröße',
  ])
    assertError(await ask(address, undefined, app, { authorization }), 401, 'authentication_malformed');
});

test('any other token is authentication_failed', async () => {
  const address = newAddress();
  const almost = [WRONG, OPERATOR_TOKEN.slice(1), `${OPERATOR_TOKEN}x`, OPERATOR_TOKEN.toUpperCase(), 'x'];
  for (const token of almost) assertError(await ask(address, token), 401, 'authentication_failed');
});

test('after 20 wrong tokens an address is refused until the window ends, except with the right token', async () => {
  const address = newAddress();
  await failOften(20, address);
  const refused = await ask(address, WRONG);
  assertError(refused, 403, 'rate_limit_exceeded');
  assert.equal(refused.headers['retry-after'], '300');

  app.clock.advance(100_000);
  assert.equal((await ask(address, OPERATOR_TOKEN)).status, 200);
  const stillRefused = await ask(address, WRONG);
  assertError(stillRefused, 403, 'rate_limit_exceeded');
  assert.equal(stillRefused.headers['retry-after'], '200');
  assertError(await ask(address, undefined), 403, 'rate_limit_exceeded');
  assertError(await ask(newAddress(), WRONG), 401, 'authentication_failed');

  app.clock.advance(WINDOW_MS - 100_000);
  assertError(await ask(address, WRONG), 401, 'authentication_failed');
});

test('wrong tokens are counted across processes', async () => {
  const { testDatabase, clock } = app;
  const second = await createTestApp({ testDatabase, clock });
  const address = newAddress();
  await failOften(10, address);
  await failOften(10, address, second);
  assertError(await ask(address, WRONG), 403, 'rate_limit_exceeded');
  assertError(await ask(address, WRONG, second), 403, 'rate_limit_exceeded');
  assert.equal((await ask(address, OPERATOR_TOKEN, second)).status, 200);
});

test('right and malformed calls are not counted', async () => {
  const address = newAddress();
  for (let i = 0; i < 30; i++) {
    assert.equal((await ask(address, OPERATOR_TOKEN)).status, 200);
    assertError(await ask(address, undefined), 401, 'authentication_malformed');
  }
  assertError(await ask(address, WRONG), 401, 'authentication_failed');
});

test('X-Forwarded-For counts only behind a trusted proxy', async () => {
  const address = newAddress();
  const forged = (i: number) => ({ 'x-forwarded-for': `203.0.113.${i}` });
  for (let i = 0; i < 20; i++) await ask(address, WRONG, app, forged(i));
  assertError(await ask(address, WRONG, app, forged(99)), 403, 'rate_limit_exceeded');

  const behindProxy = await createTestApp({ environment: { PORTICO_TRUSTED_PROXIES: '10.0.0.0/8' } });
  for (let i = 0; i < 21; i++) await ask('10.0.0.1', WRONG, behindProxy, forged(1));
  assertError(await ask('10.0.0.1', WRONG, behindProxy, forged(1)), 403, 'rate_limit_exceeded');
  assertError(await ask('10.0.0.1', WRONG, behindProxy, forged(2)), 401, 'authentication_failed');
});

test('refusals are counted by reason, and no token is logged', async () => {
  const address = newAddress();
  await failOften(20, address);
  await ask(address, WRONG);
  await ask(newAddress(), undefined);
  const { body } = await app.server.inject('/metrics');
  for (const reason of ['malformed', 'wrong_token', 'rate_limit'])
    assert.match(body, new RegExp(`portico_operator_rejections_total\\{reason="${reason}"\\} [1-9]`));
  assert.ok(app.logged.length > 0);
  assert.ok(!app.logged.some((line) => line.includes(OPERATOR_TOKEN) || line.includes(WRONG)));
});
