import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { tokenOf, userToken } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { createFile, createFileOwner, inline, PDF, PNG } from '../../testing/objects/files.ts';

/** Filters and pages of GET /api/files (contract, section 5). */
const app = await createTestApp();
const owner = await createFileOwner(app);
const bank = await tokenOf(app, owner.bankKey, 'files:read');
const path = `/organizations/${owner.organizationGuid}/banks`;
const second = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
const secondBank = String(second.body.guid);
const customers = [
  owner.customerGuid,
  await createCustomer(app, owner.bankGuid),
  await createCustomer(app, secondBank),
] as const;

/**
 * A to F, a minute apart: two per customer, the second customer at the second bank; A and D failed, B and E
 * completed.
 */
const START = app.clock.now().getTime();
const guids: Record<string, string> = {};
for (const [index, filename] of [...'ABCDEF'].entries()) {
  const given = [inline(PDF), inline(PNG), {}][index % 3];
  const customerGuid = customers[Math.floor(index / 2)] as string;
  const type = index % 2 === 0 ? 'passport' : 'other';
  guids[filename] = (await createFile(app, { ...owner, customerGuid }, { filename, type, ...given })).guid;
  await app.fileProcessing.drain();
  app.clock.advance(60_000);
}
const at = (minute: number, ms = 0) => new Date(START + minute * 60_000 + ms).toISOString();

async function names(query: string, token = owner.token): Promise<string> {
  const files = objectsOf(await app.call({ url: `/api/files?${query}`, token }));
  return files.map(({ filename }) => filename).join('');
}

test('the newest files come first', async () => {
  assert.equal(await names(''), 'FEDCBA');
});

test('guid, type and customer_guid accept one value or a comma list', async () => {
  assert.equal(await names(`guid=${guids.A},${guids.E},${guids.A}`), 'EA');
  assert.equal(await names('type=passport'), 'ECA');
  assert.equal(await names('type=passport,other,visa'), 'FEDCBA');
  assert.equal(await names(`customer_guid=${customers[1]}`), 'DC');
  assert.equal(await names(`customer_guid=${customers[2]},${customers[0]},${customers[2]}`), 'FEBA');
});

test('every filter accepts a hundred values at once', async () => {
  const many = (...values: (string | undefined)[]) =>
    Array.from({ length: 100 }, (_, index) => values[index] ?? app.guids.next()).join(',');
  const query = [
    `guid=${many(guids.B, guids.E)}`,
    `customer_guid=${many(...customers)}`,
    `bank_guid=${many(owner.bankGuid)}`,
    `type=${Array.from({ length: 100 }, () => 'other').join(',')}`,
    'state=failed,storing,completed',
    'environment=sandbox,production',
  ];
  assert.equal(await names(query.join('&')), 'B');
});

test('state accepts one or several values, and only known ones', async () => {
  assert.equal(await names('state=storing'), 'FC');
  assert.equal(await names('state=completed'), 'EB');
  assert.equal(await names('state=failed'), 'DA');
  assert.equal(await names('state=failed,storing'), 'FDCA');
  assert.equal(await names('state=failed,storing,completed'), 'FEDCBA');
  assertError(
    await app.call({ url: '/api/files?state=deleted', token: owner.token }),
    400,
    'invalid_parameter',
    /state must be one of .*; got deleted/,
  );
});

test('filters combine with AND', async () => {
  assert.equal(await names(`state=failed&type=other&customer_guid=${customers[1]}`), 'D');
  assert.equal(await names(`state=failed,completed&bank_guid=${secondBank}`), 'E');
  assert.equal(await names(`type=other&bank_guid=${owner.bankGuid}`), 'DB');
});

test('a bank token sees its own bank whatever bank_guid says', async () => {
  assert.equal(await names('', bank), 'DCBA');
  assert.equal(await names(`bank_guid=${secondBank}`, bank), 'DCBA');
  assert.equal(await names(`customer_guid=${customers[2]}`, bank), '');
});

test('environment is a filter', async () => {
  assert.equal(await names('environment=sandbox'), 'FEDCBA');
  assert.equal(await names('environment=production'), '');
});

test('created_at_gte is inclusive and created_at_lt exclusive', async () => {
  assert.equal(await names(`created_at_gte=${at(2)}`), 'FEDC');
  assert.equal(await names(`created_at_gte=${at(2, 1)}&created_at_lt=${at(4)}`), 'D');
});

test('pages by number and by keyset show each file once, also with several states', async () => {
  for (const filter of ['', '&state=failed,storing,completed', `&customer_guid=${customers.join(',')}`]) {
    let walked = '';
    let query = `per_page=2${filter}`;
    for (;;) {
      const { body } = await app.call({ url: `/api/files?${query}`, token: owner.token });
      assert.equal(body.total, 6);
      walked += (body.objects as { filename: string }[]).map(({ filename }) => filename).join('');
      if (body.next === undefined) break;
      query = `per_page=2&after=${body.next}${filter}`;
    }
    assert.equal(walked, 'FEDCBA');
    assert.equal(await names(`page=1&per_page=4${filter}`), 'BA');
  }
});

test('lists include upload URLs but no download URLs', async () => {
  const [awaited] = objectsOf(await app.call({ url: `/api/files?guid=${guids.F}`, token: owner.token }));
  assert.match(String(awaited?.upload_url), /\/uploads\//);
  const [completed] = objectsOf(await app.call({ url: `/api/files?guid=${guids.E}`, token: owner.token }));
  assert.equal(completed?.download_url, undefined);
});

test('only tokens that may create files see the upload URL', async () => {
  const reader = await tokenOf(app, owner.organizationKey, 'files:read');
  const viewer = await userToken(app, owner.organizationGuid, 'viewer');
  const { guid } = await createFile(app, owner);
  for (const [token, shown] of [
    [owner.token, true],
    [await userToken(app, owner.organizationGuid, 'developer'), true],
    [reader, false],
    [bank, false],
    [viewer, false],
  ] as const)
    for (const file of [
      (await app.call({ url: `/api/files/${guid}`, token })).body,
      objectsOf(await app.call({ url: `/api/files?guid=${guid}`, token }))[0],
    ]) {
      assert.equal(file?.guid, guid);
      const link = [typeof file.upload_url, typeof file.upload_expires_at];
      assert.deepEqual(link, shown ? ['string', 'string'] : ['undefined', 'undefined']);
    }
});
