import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { createKey, createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../testing/webhooks/webhooks.ts';
import { createCli } from '../testing/cli.ts';

const app = await createDispatchingApp({ clock: createFakeClock(new Date()) });
const { cli, as, url } = await createCli(app);
const tenant = await createTenant(app);
const env = as(tenant.organizationKey);

/** Runs a command that goes on until `isDone`, and returns what it printed as objects. */
async function watch(
  args: readonly string[],
  isDone: (printed: Record<string, unknown>[]) => boolean,
  variables: Record<string, string> = env,
) {
  const stop = new AbortController();
  const printed: Record<string, unknown>[] = [];
  const { code, err } = await cli([...args, '--json'], {
    ...{ env: variables, signal: stop.signal },
    onOutput(text) {
      for (const line of text.split('\n').filter(Boolean)) printed.push(JSON.parse(line));
      if (isDone(printed)) stop.abort();
    },
  });
  assert.equal(code, 0, err);
  return printed;
}

test('a watched delivery is printed again when it has left the state', BOUNDED, async () => {
  const endpoint = await createTestEndpoint();
  const { guid: subscription_guid } = await createSubscription(app, tenant, { url: endpoint.url });
  await app.dispatcher.drain();
  endpoint.behave({ kind: 'answer', status: 500 });
  const since = app.clock.now().toISOString();
  await publishEvents(app, tenant, 1);
  const token = await tokenOf(app, tenant.organizationKey, 'subscription_events:execute');
  let recovering: Promise<unknown> | undefined;
  function recover(): Promise<unknown> {
    endpoint.behave({ kind: 'answer', status: 204 });
    const payload = { subscription_guid, kind: 'waiting', since };
    return app.call({ method: 'POST', url: '/api/subscription_recoveries', token, payload });
  }
  const printed = await watch(['deliveries', 'list', '--state', 'failing', '--watch'], (deliveries) => {
    recovering ??= recover();
    return deliveries.some(({ state }) => state === 'completed');
  });
  await recovering;
  const last = printed.at(-1);
  assert.deepEqual([printed[0]?.state, last?.state, last?.response_status], ['failing', 'completed', 204]);
  assert.equal(new Set(printed.map(({ guid }) => guid)).size, 1);
});

test('the log is followed in order: each call once, without the own reads', BOUNDED, async () => {
  const token = await tokenOf(app, tenant.organizationKey, 'banks:read');
  const call = async (page: number) => {
    app.clock.advance(1_000);
    await app.call({ url: `/api/banks?page=${page}`, token });
    await app.requestRecorder.flush();
  };
  for (let page = 0; page < 5; page += 1) await call(page);
  let calling: Promise<void> | undefined;
  const printed = await watch(['logs', 'tail', '--lines', '2'], (calls) => {
    if (calls.length === 2) calling ??= call(5).then(() => call(6));
    return calls.filter(({ path }) => path === '/api/banks').length >= 4;
  });
  await calling;
  assert.deepEqual(
    printed.filter(({ path }) => path === '/api/request_log'),
    [],
  );
  const ids = printed.map(({ request_id }) => request_id);
  assert.equal(new Set(ids).size, ids.length);
  const banks = printed
    .filter(({ path }) => path === '/api/banks')
    .map(({ created_at }) => String(created_at));
  assert.deepEqual(banks, banks.toSorted());
  assert.equal(banks.length, 4, 'two earlier calls and two new ones');
});

test(
  'a profile listens on where it ended, also with another key pair and beside other profiles',
  BOUNDED,
  async () => {
    const listener = await createTenant(app);
    const rotated = await createKey(app, `/organizations/${listener.organizationGuid}/applications`, {
      name: 'Rotated',
    });
    const login = async (profile: string, { clientId, secret }: typeof rotated) => {
      const args = ['login', '--profile', profile, '--url', url, '--client-id', clientId, '--secret-stdin'];
      assert.equal((await cli(args, { input: secret })).code, 0);
    };
    const listen = async (profile: string, last: string, ...options: string[]) => {
      const args = ['listen', '--profile', profile, ...options];
      const printed = await watch(args, (events) => events.some(({ guid }) => guid === last), {});
      return printed.map(({ guid }) => guid);
    };
    await login('mine', listener.organizationKey);
    await login('other', listener.organizationKey);
    const [first = ''] = await publishEvents(app, listener);
    await listen('mine', first, '--since', '1d');
    const [second = ''] = await publishEvents(app, listener);
    await listen('other', second, '--since', '1d');
    await login('mine', rotated);
    assert.deepEqual(await listen('mine', second), [second]);
  },
);

test('the issuer of another environment ends listen instead of being tried for ever', BOUNDED, async () => {
  const { code, err } = await cli(['listen'], { env: { ...env, PORTICO_CLI_ENVIRONMENT: 'production' } });
  assert.equal(code, 2);
  assert.match(err, /issues tokens of the environment sandbox, not production; set --auth-url or PORTICO_/);
});

test('events of all types of an object are listed', BOUNDED, async () => {
  await publishEvents(app, tenant, [{ event_type: 'transfer.failed' }, { event_type: 'trade.failed' }]);
  const { out } = await cli(['events', 'list', '--type', 'transfer.*', '--json'], { env });
  const types = JSON.parse(out).map(({ event_type }: { event_type: string }) => event_type);
  assert.deepEqual([...new Set(types)].sort(), ['transfer.completed', 'transfer.failed']);
});
