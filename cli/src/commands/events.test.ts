import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runCli } from '../testing/cli.ts';

const EVENT = 'e'.repeat(32);
const [FIRST, SECOND, LAST] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];
const env = {
  ...{ PORTICO_CLI_URL: 'http://127.0.0.1:2', PORTICO_CLI_CLIENT_ID: 'a', PORTICO_CLI_CLIENT_SECRET: 'b' },
};

const refusal = (status: number, message_code: string) =>
  Response.json({ error: 'error', message_code, message: 'Refused' }, { status });

/** Resends an event to three subscriptions, of which some refuse it. */
async function resend(t: TestContext, refusing: readonly string[]) {
  const answers: Record<string, (body: string) => Response> = {
    '/oauth/token': () => Response.json({ access_token: 'token', expires_in: 1_800 }),
    '/api/subscription_targets': () =>
      Response.json({
        objects: [FIRST, SECOND, LAST].map((subscription_guid) => ({
          ...{ subscription_guid, environment: 'sandbox' },
        })),
      }),
    '/api/subscription_deliveries': (body) => {
      const { subscription_guid } = JSON.parse(body);
      return refusing.includes(subscription_guid)
        ? refusal(409, 'delivery_not_retryable')
        : Response.json({ guid: EVENT, subscription_guid, state: 'storing' }, { status: 201 });
    },
  };
  t.mock.method(
    globalThis,
    'fetch',
    (async (url, init) =>
      answers[new URL(String(url)).pathname]?.(String(init?.body)) ??
      refusal(404, 'not_found')) as typeof fetch,
  );
  const { code, out, err } = await runCli(['events', 'resend', EVENT, '--json'], { env });
  const sent: { subscription_guid: string }[] = out === '' ? [] : JSON.parse(out);
  return { code, sent: sent.map(({ subscription_guid }) => subscription_guid), err };
}

test('a subscription that refuses an event does not keep it from the others', async (t) => {
  const { code, sent, err } = await resend(t, [SECOND]);
  assert.deepEqual([code, sent], [1, [FIRST, LAST]]);
  const { error } = JSON.parse(err);
  assert.match(
    error,
    new RegExp(`^Not sent to 1 of your subscriptions:\\n${SECOND}: .*delivery_not_retryable`),
  );
});

test('an event that every subscription refuses is refused with the error of the service', async (t) => {
  const { code, sent, err } = await resend(t, [FIRST, SECOND, LAST]);
  assert.deepEqual([code, sent], [1, []]);
  assert.equal(JSON.parse(err).message_code, 'delivery_not_retryable');
});
