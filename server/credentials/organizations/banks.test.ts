import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { eventTypesOf } from '../../../testing/webhooks/subscriptions.ts';
import { ASSETS, SYMBOLS } from '../../objects/market/catalogue.ts';

/** /api/banks (contract, section 11). */
const app = await createTestApp();
const owner = await createCallers(app);
const tokens = {
  organization: await issueToken(app, owner, 'organization'),
  bank: await issueToken(app, owner, 'bank'),
  user: await issueToken(app, owner, 'user'),
  production: await issueToken(app, owner, 'organization', { environment: 'production' }),
};
const FIAT_ASSETS = ASSETS.filter(({ type }) => type === 'fiat').map(({ code }) => code);
const TRADING_SYMBOLS = SYMBOLS.map(({ symbol }) => symbol);
const OPTIONS = {
  features: ['attested_identity_verifications'],
  supported_fiat_account_assets: ['CAD', 'USD'],
  supported_trading_symbols: ['BTC-CAD'],
};
const create = (token: string, payload: object) =>
  app.call({ method: 'POST', url: '/api/banks', token, payload });

test('an Organization token and a user token create a sandbox bank, which emits bank.created', async () => {
  for (const token of [tokens.organization, tokens.user]) {
    const { status, body } = await create(token, { name: 'Second' });
    const { guid, ...rest } = body;
    const now = app.clock.now().toISOString();
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(rest, {
      ...{ organization_guid: owner.organizationGuid, name: 'Second', environment: 'sandbox' },
      ...{ type: 'sandbox', features: [] },
      supported_fiat_account_assets: FIAT_ASSETS,
      supported_trading_symbols: TRADING_SYMBOLS,
      ...{ created_at: now, updated_at: now },
    });
    assert.deepEqual(await eventTypesOf(app, String(guid)), ['bank.created']);
    assert.deepEqual((await app.call({ url: `/api/banks/${guid}`, token })).body, body);
  }
});

test('creating a production bank is refused', async () => {
  assertError(
    await create(tokens.production, { name: 'Live' }),
    422,
    'not_implemented',
    /^Banks can be created only in sandbox;/,
  );
  const answer = await create(tokens.user, { name: 'Live', environment: 'production' });
  assertError(answer, 400, 'invalid_parameter', /^environment /);
});

test('a new bank takes features, assets and symbols of the catalogue', async () => {
  const given = { name: 'Canada', type: 'sandbox', ...OPTIONS };
  const { status, body } = await create(tokens.organization, given);
  assert.equal(status, 201, JSON.stringify(body));
  const shown = (await app.call({ url: `/api/banks/${body.guid}`, token: tokens.organization })).body;
  assert.deepEqual(shown, { ...body, ...given, environment: 'sandbox' });
  const none = await create(tokens.organization, { name: 'None', supported_trading_symbols: [] });
  assert.deepEqual(none.body.supported_trading_symbols, []);
});

test('a new bank refuses unknown assets, symbols and types by the name of the field', async () => {
  for (const [field, value] of [
    ['supported_fiat_account_assets', ['XYZ']],
    ['supported_fiat_account_assets', ['BTC']],
    ['supported_fiat_account_assets', ['USD', 'USD']],
    ['supported_trading_symbols', ['USD-BTC']],
    ['features', ['Not a word']],
    ['features', Array.from({ length: 33 }, (_, index) => `feature_${index}`)],
    ['type', 'production'],
  ] as const) {
    const answer = await create(tokens.organization, { name: 'Wrong', [field]: value });
    assertError(answer, 400, 'invalid_parameter', new RegExp(`^${field}(?!.*must match the pattern)`));
  }
});

test('the operator sets features, assets and symbols; type equals environment', async () => {
  const path = `/organizations/${owner.organizationGuid}/banks`;
  const live = { name: 'Live', environment: 'production' };
  const mismatch = await app.operate('POST', path, { ...live, type: 'sandbox' });
  assertError(mismatch, 400, 'invalid_parameter', 'type must equal environment (production)');
  const { body: bank } = await app.operate('POST', path, { ...live, type: 'production' });
  assert.deepEqual([bank.type, bank.supported_trading_symbols], ['production', TRADING_SYMBOLS]);
  const { body } = await app.operate('PATCH', `/banks/${bank.guid}`, OPTIONS);
  assert.deepEqual(body, { ...bank, ...OPTIONS });
  assert.deepEqual((await app.operate('GET', `/banks/${bank.guid}`)).body, body);
  assert.deepEqual(await eventTypesOf(app, String(bank.guid)), ['bank.created', 'bank.updated']);
  const record = soleRecord(await auditRecordsOf(app, String(bank.guid), 'bank.update'));
  assert.deepEqual(record.changes, OPTIONS);
});

test('a list of the whole catalogue is the default, so a bank that is sent back unchanged is not updated', async () => {
  const whole = {
    supported_fiat_account_assets: FIAT_ASSETS,
    supported_trading_symbols: TRADING_SYMBOLS,
  };
  const { body: bank } = await create(tokens.organization, { name: 'Whole', ...whole });
  const path = `/banks/${bank.guid}`;
  const stored = () =>
    app.database.queries
      .selectFrom('banks')
      .select(['supported_fiat_account_assets', 'supported_trading_symbols'])
      .where('guid', '=', String(bank.guid))
      .executeTakeFirstOrThrow();
  const following = { supported_fiat_account_assets: null, supported_trading_symbols: null };
  assert.deepEqual(await stored(), following);
  assert.deepEqual((await app.operate('PATCH', path, whole)).body, bank);
  assert.deepEqual(await eventTypesOf(app, String(bank.guid)), ['bank.created']);
  await app.operate('PATCH', path, OPTIONS);
  const { body: restored } = await app.operate('PATCH', path, whole);
  assert.deepEqual(restored.supported_trading_symbols, TRADING_SYMBOLS);
  assert.deepEqual(await stored(), following);
});

test('a partner changes only the name of a bank', async () => {
  const url = `/api/banks/${owner.bankGuid}`;
  const answer = await app.call({ method: 'PATCH', url, token: tokens.organization, payload: OPTIONS });
  assertError(answer, 400, 'invalid_parameter', /^features is not a parameter/);
});

test('a new name emits bank.updated; the same name does not', async () => {
  const { body: bank } = await create(tokens.organization, { name: 'Old' });
  const url = `/api/banks/${bank.guid}`;
  const change = (payload: object) => app.call({ method: 'PATCH', url, token: tokens.organization, payload });
  app.clock.advance(1_000);
  assert.deepEqual((await change({})).body, bank);
  const { body } = await change({ name: 'New' });
  assert.deepEqual(body, { ...bank, name: 'New', updated_at: app.clock.now().toISOString() });
  assert.deepEqual(await eventTypesOf(app, String(bank.guid)), ['bank.created', 'bank.updated']);
  const record = soleRecord(await auditRecordsOf(app, String(bank.guid), 'bank.update'));
  assert.deepEqual(
    [record.actor_type, record.actor, record.changes],
    ['application', owner.organizationKey.clientId, { name: 'New' }],
  );
});

test('a bank token renames its own bank', async () => {
  const url = `/api/banks/${owner.bankGuid}`;
  const { status, body } = await app.call({
    ...{ method: 'PATCH', url, token: tokens.bank, payload: { name: 'Renamed' } },
  });
  assert.deepEqual([status, body.name], [200, 'Renamed']);
});

test('each token lists the banks that it can access, newest first', async () => {
  const of = await createCallers(app);
  const path = `/organizations/${of.organizationGuid}/banks`;
  const opened = await app.operate('POST', path, { name: 'Live', environment: 'production' });
  const second = await create(await issueToken(app, of, 'organization'), { name: 'Second' });
  const [live, added] = [String(opened.body.guid), String(second.body.guid)];
  const names = new Map([
    [live, 'live'],
    [added, 'second'],
    [of.bankGuid, 'first'],
  ] as const);
  const list = async (token: string, query = '') =>
    objectsOf(await app.call({ url: `/api/banks${query}`, token }))
      .map(({ guid }) => names.get(String(guid)))
      .join(' ');
  const organization = await issueToken(app, of, 'organization');
  const user = await issueToken(app, of, 'user');
  assert.equal(await list(organization), 'second first');
  assert.equal(await list(await issueToken(app, of, 'bank')), 'first');
  assert.equal(await list(user), 'second live first');
  const production = await issueToken(app, of, 'organization', { environment: 'production' });
  assert.equal(await list(production), 'live');
  const all = `?guid=${[...names.keys()]},${owner.bankGuid}`;
  assert.equal(await list(organization, all), 'second first');
  assert.equal(await list(user, `?guid=${live}`), 'live');
  assert.equal(await list(user, '?environment=production'), 'live');
  assert.equal(await list(user, '?type=production'), 'live');
  assert.equal(await list(user, '?type=production&type=sandbox'), 'second live first');
  assert.equal(await list(user, '?type=production&environment=sandbox'), '');
  assert.equal(await list(user, `?updated_at_gte=${app.clock.now().toISOString()}`), 'second live first');
  assert.equal(await list(user, `?updated_at_lt=${app.clock.now().toISOString()}`), '');
  assert.equal(await list(user, `?created_at_lt=${app.clock.now().toISOString()}`), '');
});

test('an Organization has at most 1,000 banks in sandbox, also with concurrent creations', async () => {
  const crowded = await createCallers(app);
  await sql`
    insert into banks (guid, organization_guid, name, environment, created_at, updated_at)
    select gen_random_uuid(), organization_guid, name, 'sandbox', created_at, updated_at
    from banks cross join generate_series(2, 999) where guid = ${crowded.bankGuid}`.execute(
    app.database.queries,
  );
  const token = await issueToken(app, crowded, 'organization');
  const answers = await Promise.all([1, 2, 3].map(() => create(token, { name: 'Last' })));
  const [created, ...refused] = answers.sort((one, other) => one.status - other.status);
  assert.equal(created?.status, 201, JSON.stringify(created?.body));
  for (const answer of refused) assertError(answer, 422, 'bank_limit_reached', /has 1000 banks in sandbox/);
  const path = `/organizations/${crowded.organizationGuid}/banks`;
  const production = await app.operate('POST', path, { name: 'Live', environment: 'production' });
  assert.equal(production.status, 201, JSON.stringify(production.body));
});
