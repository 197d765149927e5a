import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { sql } from 'kysely';
import { OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import { createCells, exportFrom, importInto, KEY, operator, rowsOf } from '../../../testing/app/cells.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { createFile, inline, PDF, PNG, storedIn } from '../../../testing/objects/files.ts';
import { joinTeam, logIn } from '../../../testing/people/dashboard.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { guidsAt, pass } from '../../../testing/webhooks/webhooks.ts';
import { createDeletions } from '../../files/storage/cleanup/deletions.ts';
import { createFolderStorage } from '../../files/storage/folder/folder.ts';
import { type Storage, StorageError, StorageFull } from '../../files/storage/storage.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { createImportedContent } from './content.ts';
import type { Frame } from './frames.ts';
import { createTransfers } from './service.ts';

/** Imports that fail leave nothing, and the old installation can go on. */
const { old, fresh, clock } = await createCells();

async function createExported(files: Record<string, unknown>[] = [inline(PNG)]) {
  const tenant = await createTenant(old);
  const endpoint = await createTestEndpoint();
  await createSubscription(old, tenant, { url: endpoint.url });
  const customerGuid = await createCustomer(old, tenant.bankGuid);
  const token = await tokenOf(old, tenant.organizationKey, 'files:execute');
  for (const given of files) await createFile(old, { token, customerGuid }, given);
  await old.fileProcessing.drain();
  await publishEvents(old, tenant, 20);
  await old.dispatcher.drain();
  return { tenant, endpoint, file: await exportFrom(old, tenant.organizationGuid) };
}

async function assertNothingIn(guid: string): Promise<void> {
  assert.deepEqual(Object.values(await rowsOf(fresh, guid)).flat(), []);
  assert.deepEqual(await storedIn(fresh), []);
  const { rows } = await sql`select from file_deletions`.execute(fresh.database.queries);
  assert.equal(rows.length, 0);
}

async function assertRefused(file: Buffer, message: RegExp, key?: Secret): Promise<void> {
  const refused = await importInto(fresh, file, key);
  assert.ok(isFailure(refused));
  assert.match(refused.message, message);
}

test('a wrong transfer key, a changed, an incomplete and another file are refused', async () => {
  const { tenant, file } = await createExported();
  const { organizationGuid } = tenant;
  await assertRefused(
    file,
    /^The transfer key must be that/,
    new Secret('another-key-than-that-of-the-export'),
  );
  await assertRefused(Buffer.from('An essay, not an export of anything. '.repeat(9)), /must be an export of/);
  await assertRefused(Buffer.alloc(0), /is incomplete/);
  await assertRefused(file.subarray(0, -1), /is incomplete/);
  await assertRefused(Buffer.concat([file, Buffer.from('x'.repeat(99))]), /was changed|is incomplete/);
  // Within the salt, the header of a block, its content and its tag.
  for (const offset of [30, 58, 200, Math.floor(file.length / 2), file.length - 1]) {
    const changed = Buffer.from(file);
    changed.writeUInt8((changed.readUInt8(offset) + 1) % 256, offset);
    const refused = await importInto(fresh, changed);
    assert.ok(isFailure(refused), `the change at ${offset} is noticed`);
  }
  await assertNothingIn(organizationGuid);
});

test('an import that is interrupted leaves nothing, and can be repeated', async () => {
  const { tenant, file } = await createExported();
  const half = file.subarray(0, Math.floor(file.length / 2));
  const cutOff = Readable.from(
    (function* () {
      yield half;
      throw new Error('the connection was lost');
    })(),
  );
  await assert.rejects(fresh.transfers.import(operator, cutOff, KEY), /the connection was lost/);
  await assertNothingIn(tenant.organizationGuid);
  assert.ok(!isFailure(await importInto(fresh, file)));
  assert.equal((await storedIn(fresh)).length, 1);
  await assertRefused(file, /^The Organization exists in this installation already/);
  assert.equal((await storedIn(fresh)).length, 1, 'the refused import deletes no content of the other');
  await removeAgain(tenant.organizationGuid);
});

/** A node of the new cell, with the same storage except for `changed`. */
function createNode(changed: (storage: Storage) => Partial<Storage>) {
  const folder = join(fresh.dataDir, 'files');
  const stored = createFolderStorage({ folder, links: {} as never, guids: fresh.guids, minFreeBytes: 0 });
  const storage = { ...stored, ...changed(stored) };
  const deletions = createDeletions({ ...fresh, storage });
  return createTransfers({ ...fresh, storage, deletions, timers: clock, baseUrl: 'http://localhost:4100' });
}

async function removeAgain(guid: string): Promise<void> {
  await fresh.transfers.export(operator, guid, KEY);
  await fresh.transfers.remove(operator, guid);
  await fresh.clusterTasks.runOnce();
}

test('an import is refused while a sweep deletes content of the import before it', async () => {
  // The file ends within the second content.
  const large = Buffer.concat([PDF, randomBytes(200_000)]);
  const files = [inline(PNG), { ...inline(large), content_type: 'application/pdf' }];
  const { tenant, file } = await createExported(files);
  const deleting = Promise.withResolvers<void>();
  const mayDelete = Promise.withResolvers<void>();
  const node = createNode((stored) => ({
    async delete(guid) {
      deleting.resolve();
      await mayDelete.promise;
      await stored.delete(guid);
    },
  }));
  const first = node.import(operator, Readable.from([file.subarray(0, -1)]), KEY);
  await deleting.promise;
  await assertRefused(file, /is still being deleted; import the file again/);
  mayDelete.resolve();
  assert.ok(isFailure(await first));
  await assertNothingIn(tenant.organizationGuid);
  const repeated = await importInto(fresh, file);
  assert.ok(!isFailure(repeated));
  assert.deepEqual([repeated.files, (await storedIn(fresh)).length], [2, 2]);
  await removeAgain(tenant.organizationGuid);
});

test('a refused import that has stored nothing does not wait for the deletion of other content', async () => {
  const { file } = await createExported();
  const guid = fresh.guids.next();
  const { queries } = fresh.database;
  await queries.insertInto('file_deletions').values({ guid, due_at: clock.now() }).execute();
  const deleted: string[] = [];
  const node = createNode(() => ({ delete: async (content) => void deleted.push(content) }));
  const refused = await node.import(operator, Readable.from([file]), new Secret('another-key'.repeat(3)));
  assert.ok(isFailure(refused) && /^The transfer key must be that/.test(refused.message));
  assert.deepEqual(deleted, []);
  await queries.deleteFrom('file_deletions').where('guid', '=', guid).execute();
});

test('an import whose content is gone before the commit is refused', async () => {
  const { tenant, file } = await createExported();
  const node = createNode((stored) => ({
    async put(guid, content, terms) {
      const result = await stored.put(guid, content, terms);
      await stored.delete(guid);
      return result;
    },
  }));
  assert.ok(isFailure(await node.import(operator, Readable.from([file]), KEY)));
  await assertNothingIn(tenant.organizationGuid);
});

test('an import into a full or unavailable storage says so', async () => {
  const { tenant, file } = await createExported();
  for (const [error, code] of [
    [new StorageFull(1, 2), 'overloaded'],
    [new StorageError('write', 'access denied'), 'storage_unavailable'],
  ] as const) {
    const node = createNode(() => ({ put: () => Promise.reject(error) }));
    const refused = await node.import(operator, Readable.from([file]), KEY);
    assert.equal(isFailure(refused) && refused.code, code);
  }
  await assertNothingIn(tenant.organizationGuid);
});

test('content of another size than announced is refused', async () => {
  const put: Storage['put'] = async (_guid, content) => {
    for await (const _piece of content);
    return 'stored';
  };
  const storage = { put } as Storage;
  const deletions = { ...createDeletions({ ...fresh, storage }), takeOver: async () => true };
  const imported = createImportedContent({ ...fresh, storage, deletions });
  const head = { kind: 'file', guid: fresh.guids.next(), contentType: 'image/png', size: 5 } as const;
  for (const content of ['four', 'longer']) {
    async function* frames(): AsyncGenerator<Frame, void> {
      yield { head: { kind: 'content' }, payload: Buffer.from(content) };
      yield { head: { kind: 'file end' }, payload: Buffer.alloc(0) };
    }
    await assert.rejects(imported.store(head, frames()), /the content of a file has another size/);
  }
});

test('an export of another schema version is refused', async () => {
  const { tenant, file } = await createExported();
  const { createDatabase } = await import('../../infrastructure/database/database.ts');
  const database = createDatabase({ url: fresh.testDatabase.ownerUrl, connections: 1, log: fresh.log });
  const { rows } = await sql<{ name: string }>`
    delete from schema_migrations where name = (select max(name) from schema_migrations) returning name`.execute(
    database.queries,
  );
  const name = String(rows[0]?.name);
  await assertRefused(file, new RegExp(`must have the same migrations; the last of the export is ${name}`));
  await sql`insert into schema_migrations (name, timestamp) values (${name}, 'now')`.execute(
    database.queries,
  );
  await database.close();
  await assertNothingIn(tenant.organizationGuid);
});

test('unfreezing lets the old installation go on', async () => {
  const { tenant, endpoint } = await createExported();
  const { organizationGuid, bankKey } = tenant;
  const path = `/organizations/${organizationGuid}`;
  assert.ok((await old.operate('GET', path)).body.frozen_at);
  const unfrozen = await old.operate('DELETE', `${path}/freeze`);
  assert.deepEqual([unfrozen.status, unfrozen.body.frozen_at], [200, undefined]);
  const token = await tokenOf(old, bankKey, 'customers:read');
  assert.equal((await old.call({ url: '/api/customers', token })).status, 200);
  const [event = ''] = await publishEvents(old, tenant);
  await pass(2_000, [old]);
  assert.equal(guidsAt(endpoint).at(-1), event);
  assert.equal((await old.operate('DELETE', path)).status, 409, 'only a frozen one can be removed');
});

test('a person who is in both installations keeps the login of the new one', async () => {
  const { organizationGuid } = await createTenant(old);
  const elsewhere = await createTenant(fresh);
  const email = 'ada@partner.example';
  const before = await joinTeam(old, organizationGuid, { email });
  const there = await joinTeam(fresh, elsewhere.organizationGuid, { email, role: 'viewer' });
  assert.notEqual(before.memberGuid, there.memberGuid);
  assert.ok(!isFailure(await importInto(fresh, await exportFrom(old, organizationGuid))));
  const organizations = await fresh.members.organizationsOf(there.memberGuid);
  assert.deepEqual(organizations.map(({ role }) => role).toSorted(), ['founder', 'viewer']);
  assert.equal((await logIn(fresh, there)).status, 200);
  await old.transfers.remove(operator, organizationGuid);
  assert.equal((await logIn(old, before)).status, 401, 'a person without an Organization is removed');
});

test('the transfer key is required, and a removed Organization is gone', async () => {
  const { organizationGuid } = await createTenant(old);
  const call = (method: 'PUT' | 'DELETE', path: string) =>
    old.call({ method, url: `/operator/organizations${path}`, token: OPERATOR_TOKEN });
  const missing = await call('PUT', `/${organizationGuid}/export`);
  assert.deepEqual([missing.status, missing.body.message_code], [400, 'missing_parameter']);
  assert.equal((await call('DELETE', `/${'0'.repeat(32)}/freeze`)).status, 404);
  await exportFrom(old, organizationGuid);
  const removed = await call('DELETE', `/${organizationGuid}`);
  assert.deepEqual([removed.status, removed.body.removed], [200, true]);
  assert.equal((await call('DELETE', `/${organizationGuid}`)).status, 404);
});
