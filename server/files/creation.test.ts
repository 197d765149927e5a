import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { LIMITED } from '../../testing/app/patience.ts';
import { PRODUCTION_HOST, tokenOf, userToken } from '../../testing/app/tenant.ts';
import { createCustomer, nextGuid } from '../../testing/objects/customers.ts';
import {
  createFile,
  createFileOwner,
  inline,
  PNG,
  postFile,
  showFile,
  storedIn,
} from '../../testing/objects/files.ts';
import { until } from '../../testing/webhooks/webhooks.ts';

/** POST /api/files (specification, Files; contract, section 8). */
const app = await createTestApp();
const owner = await createFileOwner(app);
const MAX_DATA_CHARACTERS = 10_485_760;

test('with data a file is storing without links, and completed after processing', async () => {
  const created = await createFile(app, owner, inline(PNG));
  const now = app.clock.now().toISOString();
  const { guid, ...rest } = created;
  assert.deepEqual(rest, {
    organization_guid: owner.organizationGuid,
    bank_guid: owner.bankGuid,
    customer_guid: owner.customerGuid,
    type: 'utility_bill',
    filename: 'bill.png',
    content_type: 'image/png',
    state: 'storing',
    created_at: now,
  });
  assert.deepEqual(await showFile(app, owner, guid), created);
  app.clock.advance(1_000);
  await app.fileProcessing.drain();
  assert.deepEqual(await showFile(app, owner, guid), {
    ...created,
    state: 'completed',
    size: PNG.length,
    sha256: createHash('sha256').update(PNG).digest('hex'),
    completed_at: app.clock.now().toISOString(),
  });
  assert.deepEqual(await storedIn(app), [guid]);
});

test('without data a file has an upload URL that is valid for 15 minutes', async () => {
  const created = await createFile(app, owner);
  assert.equal(created.state, 'storing');
  assert.equal(created.upload_expires_at, new Date(app.clock.now().getTime() + 15 * 60_000).toISOString());
  assert.match(created.upload_url, new RegExp(`^http://localhost:4000/uploads/${created.guid}\\?`));
  assert.deepEqual(await showFile(app, owner, created.guid), created, 'shown while it waits for the upload');
});

test('upload URLs start with PORTICO_UPLOAD_URL', async () => {
  const elsewhere = await createTestApp({ environment: { PORTICO_UPLOAD_URL: 'https://up.example.com' } });
  const created = await createFile(elsewhere, await createFileOwner(elsewhere));
  assert.match(created.upload_url, /^https:\/\/up\.example\.com\/uploads\//);
});

test('an Organization without the files feature is refused before its input is checked', async () => {
  const without = await createFileOwner(app, { features: ['webhooks'] });
  assertError(await postFile(app, without), 403, 'feature_not_enabled');
  assertError(await postFile(app, without, { nonsense: 1 }), 403, 'feature_not_enabled');
  assertError(await app.call({ url: '/api/files', token: without.token }), 403, 'feature_not_enabled');
  const features = { features: ['webhooks', 'files'] };
  await app.operate('PATCH', `/organizations/${without.organizationGuid}`, features);
  await createFile(app, without);
});

test('an unknown customer, or one of another Organization, bank or environment: 422 no_customer', async () => {
  const stranger = await createFileOwner(app);
  const path = `/organizations/${owner.organizationGuid}/banks`;
  const sibling = await app.operate('POST', path, { name: 'Second', environment: 'sandbox' });
  const production = await app.operate('POST', path, { name: 'Real', environment: 'production' });
  const ofSibling = await createCustomer(app, String(sibling.body.guid));
  const ofProduction = await createCustomer(app, String(production.body.guid));
  const bankToken = await tokenOf(app, owner.bankKey, 'files:execute');
  const isRefused = async (token: string, customerGuid: string) =>
    assertError(await postFile(app, { token, customerGuid }, inline(PNG)), 422, 'no_customer');
  await isRefused(owner.token, nextGuid(app));
  await isRefused(owner.token, stranger.customerGuid);
  await isRefused(owner.token, ofProduction);
  await isRefused(bankToken, ofSibling);
  await isRefused(bankToken, stranger.customerGuid);
  assert.equal(
    (await createFile(app, { token: owner.token, customerGuid: ofSibling })).bank_guid,
    sibling.body.guid,
  );
  const real = await tokenOf(app, owner.organizationKey, 'files:execute', { host: PRODUCTION_HOST });
  assert.equal(
    (await createFile(app, { token: real, customerGuid: ofProduction })).bank_guid,
    production.body.guid,
  );
  const founder = await userToken(app, owner.organizationGuid);
  await createFile(app, { token: founder, customerGuid: ofProduction });
});

const ONE_BYTE_SHORT = inline(PNG).data.slice(0, -1);
const BAD_DATA: Record<string, [data: string, message: RegExp]> = {
  'without its padding': [Buffer.from('ab').toString('base64').replace(/=+$/, ''), /padded/],
  'with too much padding': ['YWI==', /^data /],
  'cut off': [ONE_BYTE_SHORT, /padded/],
  'with line breaks': [`${inline(PNG).data.slice(0, 76)}\n${inline(PNG).data.slice(76)}`, /line break/],
  'with a space': ['YW JpYw==', /^data /],
  'with the prefix of a data URL': [`data:image/png;base64,${inline(PNG).data}`, /data URL/],
  'in the alphabet for URLs': ['-_-_', /alphabet/],
  'with unused bits that are not zero': ['YWJ=', /bits/],
  'that is not base64': ['????', /^data /],
};

for (const [what, [data, message]] of Object.entries(BAD_DATA))
  test(`data ${what}: 400, and nothing is stored`, async () => {
    const before = await storedIn(app);
    assertError(await postFile(app, owner, { data }), 400, 'invalid_parameter', message);
    assert.deepEqual(await storedIn(app), before);
    const deletions = await app.database.queries.selectFrom('file_deletions').selectAll().execute();
    assert.deepEqual(deletions, [], 'no deletion is scheduled');
  });

test('10,485,760 characters of data are stored; one more is 413 and the message names the upload URL', async () => {
  const most = Buffer.concat([PNG, Buffer.alloc((MAX_DATA_CHARACTERS / 4) * 3 - PNG.length)]);
  const data = most.toString('base64');
  assert.equal(data.length, MAX_DATA_CHARACTERS);
  const { guid } = await createFile(app, owner, { data });
  await app.fileProcessing.drain();
  const { state, size } = await showFile(app, owner, guid);
  assert.deepEqual([state, size], ['completed', most.length]);
  const before = await storedIn(app);
  const refused = await postFile(app, owner, { data: `${data}A` });
  assertError(refused, 413, 'payload_too_large', /10485760 characters.*upload_url/);
  const far = await postFile(app, owner, { data: `${data}${data.slice(0, 1024 ** 2)}` });
  assertError(far, 413, 'payload_too_large', /body must have at most 11534336 bytes; .*upload_url/);
  assert.deepEqual(await storedIn(app), before);
});

test('the limit of uploads does not apply to inline data', async () => {
  const small = await createTestApp({ environment: { PORTICO_MAX_UPLOAD_BYTES: '10' } });
  const { guid, token, customerGuid } = { ...(await createFileOwner(small)), guid: '' };
  assert.equal(guid, '');
  const created = await createFile(small, { token, customerGuid }, inline(PNG));
  await small.fileProcessing.drain();
  assert.equal((await showFile(small, { token }, created.guid)).state, 'completed');
});

test('empty data is an empty file, which fails', async () => {
  const before = await storedIn(app);
  const { guid } = await createFile(app, owner, { data: '' });
  await app.fileProcessing.drain();
  const { state, failure_code } = await showFile(app, owner, guid);
  assert.deepEqual([state, failure_code], ['failed', 'empty']);
  assert.deepEqual(await storedIn(app), before);
});

test('filename has 1 to 128 characters and no characters that disguise it', async () => {
  const refused = [
    ['', /filename must not be empty/],
    ['x'.repeat(129), /filename must have at most 128 characters/],
    [' ', /blank/],
    ['a/b.png', /path/],
    ['a\\b.png', /path/],
    ['..', /path/],
    ['a\0b.png', /filename/],
    ['a\nb.png', /control/],
    ['a\x7fb.png', /control/],
    ['a\u0085b.png', /control/],
    ['a\u2028b.png', /control/],
    ['invoice\u202efdp.exe', /direction/],
    ['a\u200fb.png', /direction/],
    ['a\u2067b.png', /direction/],
  ] as const;
  for (const [filename, message] of refused)
    assertError(await postFile(app, owner, { filename }), 400, 'invalid_parameter', message);
  for (const filename of [
    'x',
    'x'.repeat(128),
    '請求書.pdf',
    'a b (1).tar.gz',
    '…',
    "o'brien; q.png",
    '💶'.repeat(128),
  ])
    assert.equal((await createFile(app, owner, { filename })).filename, filename);
});

test('type and content_type must be in their lists', async () => {
  for (const type of ['selfie_video', 'ein_letter', 'other', 'proof_of_address'])
    assert.equal((await createFile(app, owner, { type })).type, type);
  for (const wrong of [{ type: 'photo' }, { content_type: 'image/gif' }, { content_type: 'image/png; x=y' }])
    assertError(await postFile(app, owner, wrong), 400, 'invalid_parameter', /must be one of/);
});

test('the audit records of a file name its creator and its result, not its content', async () => {
  const { guid } = await createFile(app, owner, inline(PNG));
  await app.fileProcessing.drain();
  const {
    address: _a,
    request_id: _r,
    ...created
  } = soleRecord(await auditRecordsOf(app, guid, 'file.create'));
  assert.deepEqual(created, {
    organization_guid: owner.organizationGuid,
    actor_type: 'application',
    actor: owner.organizationKey.clientId,
    action: 'file.create',
    object_type: 'file',
    object_id: guid,
    changes: { customer_guid: owner.customerGuid, type: 'utility_bill', content_type: 'image/png' },
    created_at: app.clock.now().toISOString(),
  });
  const [completed] = await auditRecordsOf(app, guid, 'file.complete');
  assert.equal(completed?.actor_type, 'system');
  assert.equal(completed?.changes.size, PNG.length);
  assert.doesNotMatch(app.logged.join(''), new RegExp(inline(PNG).data.slice(0, 40).replaceAll('+', '\\+')));
});

test('a silent storage blocks no other calls of the Organization', LIMITED, async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let puts = 0;
  const silent = await createTestApp({
    environment: { PORTICO_MAX_BODY_BYTES_IN_FLIGHT: String(64 * 1024 ** 2) },
    wrapStorage: (storage) => ({
      ...storage,
      async put(...content) {
        puts += 1;
        await answered;
        return storage.put(...content);
      },
    }),
  });
  const { token, ...creator } = await createFileOwner(silent);
  const storing = Array.from({ length: 4 }, () => postFile(silent, { token, ...creator }, inline(PNG)));
  await until(async () => puts === 2, 'as many are stored at once as calls run');
  assert.equal((await postFile(silent, { token, ...creator })).status, 201);
  assert.equal(puts, 2);
  // Together just below the 16 MiB that files of one Organization may hold, and then above.
  const waiting = [10_400_000, 6_300_000, 100_000].map((characters) =>
    postFile(silent, { token, ...creator }, { data: 'A'.repeat(characters) }),
  );
  assertError(await Promise.race(waiting), 503, 'overloaded', /request bodies/);
  const created = await silent.call({
    method: 'POST',
    url: '/api/customers',
    token: await tokenOf(silent, creator.bankKey, 'customers:execute'),
    headers: { 'content-type': 'application/json' },
    payload: `{"type":"individual"}${' '.repeat(100_000)}`,
  });
  assert.equal(created.status, 201, 'bodies of other calls have a share of their own');
  answer();
  await Promise.all(waiting);
  assert.deepEqual(
    (await Promise.all(storing)).map(({ status }) => status),
    [201, 201, 201, 201],
  );
});
