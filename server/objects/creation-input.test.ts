import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { newObject, typeOf } from '../../testing/objects/objects.ts';
import type { TokenType } from '../tokens/claims.ts';
import { OBJECT_TYPES } from './types.ts';

/**
 * POST /api/<objects> in sandbox (contract, section 11); customers are in `customer-*.test.ts`, quotes in
 * `market/quotes.test.ts`.
 */
const app = await createTestApp();
const owner = await createCallers(app);
const TYPES = OBJECT_TYPES.filter(({ machine }) => machine);
const ABSENT = '0'.repeat(32);

async function create(plural: string, payload: object, holder: TokenType = 'bank') {
  const token = await issueToken(app, owner, holder);
  return app.call({ method: 'POST', url: `/api/${plural}`, token, payload });
}

test('a decimal amount is refused with the accepted form', async () => {
  const type = TYPES.find(({ plural }) => plural === 'trades') ?? assert.fail();
  const body = JSON.stringify({ ...(await newObject(app, type, owner)), amount: 0 });
  const call = { method: 'POST', url: '/api/trades', token: await issueToken(app, owner, 'bank') } as const;
  const headers = { 'content-type': 'application/json' };
  // JSON.parse rounds the second one to 1050.
  for (const amount of ['10.5', '1050.00000000000000001'])
    assertError(
      await app.call({ ...call, headers, payload: body.replace('"amount":0', `"amount":${amount}`) }),
      400,
      'invalid_parameter',
      'amount must be an integer in the smallest unit of the asset, for example 1050 for 10.50 USD, or a string of its digits',
    );
});

test('invalid input is refused with the name of its field', async () => {
  const cases: [plural: string, field: string, values: unknown[]][] = [
    ['trades', 'side', ['hold', '']],
    ['trades', 'symbol', ['BTCUSD', 'btc-usd', 'BTC-', 1]],
    [
      'trades',
      'amount',
      [0, -1, 1.5, '0', '01', '-1', '1.5', '', ' 1', '1e3', '9'.repeat(39), 2 ** 53, true, {}],
    ],
    ['transfers', 'transfer_type', ['wire']],
    ['transfers', 'asset', ['usd', 'U', 'X'.repeat(13)]],
    ['identity_verifications', 'method', ['guess']],
    ['identity_verifications', 'file_guids', ['x', [1], ['x'], [ABSENT, ABSENT]]],
    ['external_bank_accounts', 'name', ['', ' ', 'x'.repeat(129)]],
    ['accounts', 'balance', [-1, 0.5, '00', '-0', 'x', 2 ** 53]],
    ['plans', 'source_account_guid', ['x']],
    ['executions', 'plan_guid', ['x']],
    ['workflows', 'type', ['other']],
    ['workflows', 'kind', ['link_token_delete']],
    ['workflows', 'language', ['english', 'EN']],
    [
      'workflows',
      'redirect_uri',
      ['http://example.com', 'example.com', 'https://', 'https://:443', `https://${'x'.repeat(1_020)}`],
    ],
    ['workflows', 'plaid_link_token', ['link-sandbox-1']],
    ['deposit_addresses', 'account_guid', ['x']],
    ['deposit_addresses', 'address', ['tb1q']],
    ['transfers', 'labels', ['x', [''], [1], ['x', 'x'], Array.from({ length: 11 }, (_, i) => `${i}`)]],
    ['transfers', 'labels', [['x'.repeat(51)]]],
    ['transfers', 'guid', [ABSENT]],
    ['transfers', 'state', ['completed']],
    ['transfers', 'environment', ['sandbox']],
    ['transfers', 'details', [{}]],
  ];
  for (const [plural, field, wrong] of cases) {
    const type = TYPES.find((candidate) => candidate.plural === plural) ?? assert.fail(plural);
    const input = await newObject(app, type, owner);
    for (const value of wrong)
      assertError(
        await create(plural, { ...input, [field]: value }),
        400,
        'invalid_parameter',
        new RegExp(`^${field}`),
      );
  }
});

const AMOUNTS: [given: unknown, shown: unknown][] = [
  [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991],
  ['250000', 250_000],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '9007199254740993'],
  ['9'.repeat(38), '9'.repeat(38)],
];

test('amounts are exact: numbers up to 2^53 - 1, strings of digits beyond', async () => {
  const token = await issueToken(app, owner, 'bank');
  for (const [amount, shown] of AMOUNTS) {
    const { body } = await create('transfers', {
      ...(await newObject(app, typeOf('transfer'), owner)),
      amount,
    });
    assert.deepEqual(body.amount, shown);
    assert.deepEqual((await app.call({ url: `/api/transfers/${body.guid}`, token })).body, body);
    const { body: list } = await app.call({ url: `/api/transfers?guid=${body.guid}`, token });
    assert.deepEqual(list.objects, [body]);
  }
});

test('a number that may have been rounded is refused, and the message says how to write it', async () => {
  const input = await newObject(app, typeOf('transfer'), owner);
  const message = 'amount must be a string of digits above 9007199254740991, for example "10000000000000000"';
  for (const amount of [2 ** 53, 1e21])
    assertError(await create('transfers', { ...input, amount }), 400, 'invalid_parameter', message);
});
