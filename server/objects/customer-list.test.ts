import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';

/** Filters and pages of GET /api/customers (contract, section 5). */
const app = await createTestApp();
const tenant = await createTenant(app);
const organization = await tokenOf(app, tenant.organizationKey, 'customers:read customers:execute');
const bank = await tokenOf(app, tenant.bankKey, 'customers:read');
const path = `/organizations/${tenant.organizationGuid}/banks`;
const second = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
const secondBank = String(second.body.guid);

/** A to F, a minute apart; every other one is a business, and the last two belong to the second bank. */
const START = app.clock.now().getTime();
const guids: Record<string, string> = {};
for (const [index, name] of [...'ABCDEF'].entries()) {
  const type = index % 2 === 0 ? 'individual' : 'business';
  const bank_guid = index < 4 ? tenant.bankGuid : secondBank;
  const payload = { type, name, bank_guid };
  const answer = await app.call({ method: 'POST', url: '/api/customers', token: organization, payload });
  guids[name] = String(answer.body.guid);
  app.clock.advance(60_000);
}
const at = (minute: number, ms = 0) => new Date(START + minute * 60_000 + ms).toISOString();

async function names(query: string, token = organization): Promise<string> {
  const customers = objectsOf(await app.call({ url: `/api/customers?${query}`, token }));
  return customers.map(({ name }) => (name as { full: string }).full).join('');
}

test('the newest customers come first', async () => {
  assert.equal(await names(''), 'FEDCBA');
});

test('guid accepts one value or a comma list', async () => {
  assert.equal(await names(`guid=${guids.B}`), 'B');
  assert.equal(await names(`guid=${guids.A},${guids.E},${guids.A}`), 'EA');
  assert.equal(await names(`guid=${'0'.repeat(32)}`), '');
});

test('type accepts one value or a comma list', async () => {
  assert.equal(await names('type=business'), 'FDB');
  assert.equal(await names('type=individual'), 'ECA');
  assert.equal(await names('type=individual,business'), 'FEDCBA');
  assertError(
    await app.call({ url: '/api/customers?type=unheard_of', token: organization }),
    400,
    'invalid_parameter',
    'type must be one of individual, business; got unheard_of',
  );
});

test('bank_guid accepts one value or a comma list, and a bank token has its own bank', async () => {
  assert.equal(await names(`bank_guid=${secondBank}`), 'FE');
  assert.equal(await names(`bank_guid=${secondBank},${tenant.bankGuid}`), 'FEDCBA');
  assert.equal(await names(`bank_guid=${secondBank}`, bank), 'DCBA');
});

test('created_at_gte is inclusive and created_at_lt exclusive', async () => {
  assert.equal(await names(`created_at_gte=${at(2)}`), 'FEDC');
  assert.equal(await names(`created_at_gte=${at(2, 1)}`), 'FED');
  assert.equal(await names(`created_at_lt=${at(2)}`), 'BA');
  assert.equal(await names(`created_at_lt=${at(2, 1)}`), 'CBA');
  assert.equal(await names(`created_at_gte=${at(1)}&created_at_lt=${at(3)}`), 'CB');
  assert.equal(await names(`created_at_gte=${at(3)}&created_at_lt=${at(1)}`), '');
});

test('times may be in any time zone', async () => {
  const local = new Date(START + 2 * 60_000 + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
  assert.equal(await names(`created_at_lt=${encodeURIComponent(local)}`), 'BA');
});

test('times far in the past or future are accepted', async () => {
  for (const year of ['0000', '0001', '1970', '9999'])
    assert.match(await names(`created_at_gte=${year}-01-01T00:00:00Z`), year === '9999' ? /^$/ : /^FEDCBA$/);
});

test('a date means its midnight in UTC', async () => {
  assert.equal(await names('created_at_gte=2026-11-15'), await names(''));
  assert.equal(await names('created_at_lt=2026-11-15'), '');
  assert.equal(await names('created_at_gte=2026-11-16'), '');
});

test('an invalid time is refused with the name of its parameter', async () => {
  for (const text of [
    '2026-11-15T23:59:60Z',
    '2026-12-31T23:59:60Z',
    '2026-11-15T12:00:00+05',
    '2026-11-15T12:00:00',
    '2026-11',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '1794744000000',
    'now',
    '',
  ])
    for (const name of ['created_at_gte', 'created_at_lt'])
      assertError(
        await app.call({ url: `/api/customers?${name}=${encodeURIComponent(text)}`, token: organization }),
        400,
        'invalid_parameter',
        new RegExp(`^${name} `),
      );
});

test('filters combine with AND', async () => {
  assert.equal(await names(`type=business&bank_guid=${tenant.bankGuid}&created_at_gte=${at(2)}`), 'D');
  assert.equal(await names(`guid=${guids.A}&type=business`), '');
});

test('a malformed or too long list of values is refused with the name of its parameter', async () => {
  const guid = guids.A ?? '';
  const tooMany = Array.from({ length: 101 }, () => guid).join(',');
  for (const [name, text] of [
    ['guid', `${guid},`],
    ['guid', `,${guid}`],
    ['guid', `${guid}, ${guid}`],
    ['guid', guid.toUpperCase()],
    ['guid', tooMany],
    ['bank_guid', 'x'],
    ['type', 'Individual'],
    ['type', 'individual,,business'],
  ] as const)
    assertError(
      await app.call({ url: `/api/customers?${name}=${encodeURIComponent(text)}`, token: organization }),
      400,
      'invalid_parameter',
      new RegExp(`^${name} `),
    );
});

test('numbered pages and the keyset show every customer once', async () => {
  const page = (query: string) => app.call({ url: `/api/customers?per_page=2${query}`, token: organization });
  const { objects: _, next, ...envelope } = (await page('&page=1')).body;
  assert.deepEqual(envelope, { total: 6, page: 1, per_page: 2 });
  assert.equal(next, guids.C);
  assert.equal(await names('per_page=2&page=1'), 'DC');
  assert.ok(!('next' in (await page('&page=2')).body), 'the last page has no next');

  let walked = '';
  for (let after = ''; ; ) {
    const { body } = await page(after);
    walked += (body.objects as { name: { full: string } }[]).map(({ name }) => name.full).join('|');
    if (body.next === undefined) break;
    walked += '/';
    after = `&after=${body.next}`;
  }
  assert.equal(walked, 'F|E/D|C/B|A');
});

test('filters apply to every page and to total', async () => {
  const { body } = await app.call({ url: '/api/customers?type=business&per_page=2', token: organization });
  assert.equal(body.total, 3);
  assert.equal(await names(`type=business&per_page=2&after=${body.next}`), 'B');
});
