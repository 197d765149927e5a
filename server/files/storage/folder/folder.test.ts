import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { after, test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createEncryption } from '../../../infrastructure/runtime/encryption.ts';
import { createGuids } from '../../../infrastructure/runtime/guid.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { StorageError, StorageFull } from '../storage.ts';
import { cutOffAfter, describeStorage, newGuid, noneAwaited, piecesOf } from '../testing/storage-suite.ts';
import { createFolderStorage } from './folder.ts';
import { createLinks } from './links.ts';

const TERMS = { contentType: 'image/png', maxBytes: 1_000_000 };
const clock = createFakeClock();

async function createStorage({ minFreeBytes = 0, freeBytes = async () => 0 } = {}) {
  const parent = await mkdtemp(join(tmpdir(), 'portico-files-'));
  const folder = join(parent, 'files');
  const encryption = createEncryption({ masterKeys: [new Secret('ab'.repeat(32))], randomBytes });
  const links = createLinks({ uploadUrl: 'http://upload.test', encryption, clock });
  const guids = createGuids({ clock, randomBytes });
  const storage = createFolderStorage({ folder, links, guids, minFreeBytes, freeBytes });
  return { folder, storage, links, close: () => rm(parent, { recursive: true, force: true }) };
}

async function createStorageForTest(options: Parameters<typeof createStorage>[0] = {}) {
  const created = await createStorage(options);
  after(created.close);
  return created;
}

describeStorage('folder storage', () => createStorage());

/** The relative paths of all files below a folder. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test('content is named by its guid and readable only by the service user', async () => {
  const { storage, folder } = await createStorageForTest();
  const guid = '0190163d86947395b2f5c1d2e3f4a5b6';
  await storage.put(guid, piecesOf(Buffer.from('content')), TERMS);
  const path = join(folder, 'b6', 'a5', guid);
  assert.deepEqual(await filesIn(folder), [path]);
  assert.equal((await readFile(path)).toString(), 'content');
  if (platform === 'win32') return;
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  for (const part of ['.', 'temporary', 'b6', 'b6/a5'])
    assert.equal((await stat(join(folder, part))).mode & 0o777, 0o700);
});

test('refused, oversized and cut-off content leaves nothing behind', async () => {
  const { storage, folder } = await createStorageForTest();
  const guid = newGuid();
  await assert.rejects(storage.put(guid, cutOffAfter(500_000), TERMS), { message: 'cut off' });
  await storage.put(guid, piecesOf(Buffer.alloc(1_000_001)), TERMS);
  assert.deepEqual(await filesIn(folder), []);
  await storage.put(guid, piecesOf(Buffer.from('content')), TERMS);
  await storage.put(guid, piecesOf(Buffer.from('again')), TERMS);
  assert.equal((await filesIn(folder)).length, 1);
});

test('content is not visible until it is complete', async () => {
  const { storage, folder } = await createStorageForTest();
  const guid = newGuid();
  async function* watched() {
    yield Buffer.alloc(500_000);
    assert.equal((await filesIn(join(folder, 'temporary'))).length, 1);
    assert.equal(await storage.head(guid), undefined);
    yield Buffer.alloc(100);
  }
  assert.equal(await storage.put(guid, watched(), TERMS), 'stored');
  assert.deepEqual(await storage.head(guid), { size: 500_100 });
  assert.deepEqual(await filesIn(join(folder, 'temporary')), []);
});

test('the source is notified of each written chunk, whose memory it may then free', async () => {
  const { storage } = await createStorageForTest();
  const guid = newGuid();
  const content = randomBytes(3_000_000);
  const written: number[] = [];
  const onWritten = ({ buffer, byteLength }: Uint8Array) => {
    written.push(byteLength);
    (buffer as ArrayBuffer).transfer(0);
  };
  async function* owned() {
    for (let at = 0; at < content.length; at += 100_000)
      yield new Uint8Array(content.subarray(at, at + 100_000));
  }
  const terms = { ...TERMS, maxBytes: content.length, onWritten };
  assert.equal(await storage.put(guid, owned(), terms), 'stored');
  assert.deepEqual(written, new Array(30).fill(100_000));
  const read: Buffer[] = [];
  for await (const chunk of (await storage.read(guid)) ?? []) read.push(chunk as Buffer);
  assert.ok(Buffer.concat(read).equals(content));
});

test('reading stops when the content is too large', async () => {
  const { storage } = await createStorageForTest();
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 65_536;
      yield Buffer.alloc(65_536);
    }
  }
  assert.equal(await storage.put(newGuid(), endless(), TERMS), 'too_large');
  assert.ok(read < 2 * TERMS.maxBytes, `read ${read} bytes`);
});

test('the sweep deletes what a crash left and keeps uploads in progress', async () => {
  const { storage, folder } = await createStorageForTest();
  const kept = newGuid();
  assert.equal(await storage.sweepTemporary(new Date(), noneAwaited), 0);
  await storage.put(kept, piecesOf(Buffer.from('content')), TERMS);
  const [old, recent] = [join(folder, 'temporary', newGuid()), join(folder, 'temporary', newGuid())];
  for (const path of [old, recent]) await writeFile(path, 'half');
  const moment = new Date('2026-11-15T12:00:00.000Z');
  await utimes(old, moment, new Date(moment.getTime() - 1));
  await utimes(recent, moment, moment);
  assert.equal(await storage.sweepTemporary(moment, noneAwaited), 1);
  assert.deepEqual(await filesIn(join(folder, 'temporary')), [recent]);
  assert.deepEqual(await storage.head(kept), { size: 7 });
});

test('a folder that is not writable is a StorageError', async () => {
  const { storage, folder } = await createStorageForTest();
  await writeFile(folder, 'in the way');
  const content = piecesOf(Buffer.from('content'));
  await assert.rejects(storage.put(newGuid(), content, TERMS), StorageError);
  await assert.rejects(storage.head(newGuid()), StorageError);
  await assert.rejects(storage.read(newGuid()), StorageError);
});

test('a temporary file that disappears is a StorageError, and nothing is stored', async () => {
  const { storage, folder } = await createStorageForTest();
  const guid = newGuid();
  async function* robbed() {
    yield Buffer.from('content');
    for (const path of await filesIn(join(folder, 'temporary'))) await rm(path);
  }
  await assert.rejects(storage.put(guid, robbed(), TERMS), StorageError);
  assert.equal(await storage.head(guid), undefined);
});

test('a temporary file that cannot be deleted keeps no other, and is reported', async () => {
  const { storage, folder } = await createStorageForTest();
  const temporary = join(folder, 'temporary');
  await mkdir(join(temporary, 'a folder'), { recursive: true });
  await writeFile(join(temporary, newGuid()), 'rest');
  const sweep = storage.sweepTemporary(new Date(Date.now() + 60_000), noneAwaited);
  await assert.rejects(sweep, (error) => error instanceof StorageError && /delete 1 of/.test(error.message));
  assert.deepEqual(await readdir(temporary), ['a folder']);
});

/** The prototype of every FileHandle; Node does not export the class. */
async function handlePrototype(): Promise<FileHandle> {
  const handle = await open(import.meta.filename);
  await handle.close();
  return Object.getPrototypeOf(handle);
}

test('put resolves after the content and then the name are on disk', async (context) => {
  const { storage, folder } = await createStorageForTest();
  const guid = newGuid();
  const synced: string[] = [];
  const prototype = await handlePrototype();
  const { sync } = prototype;
  context.mock.method(prototype, 'sync', async function (this: FileHandle) {
    const isNamed = (await storage.head(guid)) !== undefined;
    const { ino } = await this.stat();
    synced.push(`${ino} ${isNamed ? 'after' : 'before'} it has its name`);
    return sync.call(this);
  });
  assert.equal(await storage.put(guid, piecesOf(Buffer.from('content')), TERMS), 'stored');
  const [top, inner] = [join(folder, guid.slice(-2)), join(folder, guid.slice(-2), guid.slice(-4, -2))];
  const inodeOf = async (path: string) => (await stat(path)).ino;
  assert.equal(synced[0], `${await inodeOf(join(inner, guid))} before it has its name`);
  const folders = platform === 'win32' ? [] : [inner, top, folder];
  const inodes = await Promise.all(folders.map(inodeOf));
  assert.deepEqual(
    synced.slice(1),
    inodes.map((inode) => `${inode} after it has its name`),
  );
});

test('a full disk is a StorageError during and after writing, and nothing is left behind', async (context) => {
  for (const pieces of [3_000_000, 100]) {
    const { storage, folder } = await createStorageForTest();
    const full = async () => Promise.reject(new Error('ENOSPC: no space left on device'));
    const mocked = context.mock.method(await handlePrototype(), 'writev', full);
    const written = storage.put(newGuid(), piecesOf(Buffer.alloc(pieces)), { ...TERMS, maxBytes: 4_000_000 });
    await assert.rejects(written, StorageError);
    mocked.mock.restore();
    assert.deepEqual(await filesIn(folder), []);
  }
});

test('batches are written one after the other, and at most one waits', async (context) => {
  const { storage } = await createStorageForTest();
  const prototype = await handlePrototype();
  const { writev } = prototype;
  let inFlight = 0;
  let most = 0;
  context.mock.method(prototype, 'writev', async function (this: FileHandle, chunks: Buffer[]) {
    most = Math.max(most, ++inFlight);
    const result = await writev.call(this, chunks);
    inFlight -= 1;
    return result;
  });
  const content = piecesOf(Buffer.alloc(20_000_000), 1_048_576);
  assert.equal(await storage.put(newGuid(), content, { ...TERMS, maxBytes: 20_000_000 }), 'stored');
  assert.equal(most, 1);
});

test('the rest of a partial write is written', async (context) => {
  const { storage, folder } = await createStorageForTest();
  const content = randomBytes(150_000);
  const mocked = context.mock.method(
    await handlePrototype(),
    'writev',
    async function (this: FileHandle, chunks: Buffer[]) {
      return this.write(Buffer.concat(chunks).subarray(0, 70_000));
    },
  );
  const guid = newGuid();
  assert.equal(await storage.put(guid, piecesOf(content), TERMS), 'stored');
  assert.equal(mocked.mock.callCount(), 1);
  const [path] = await filesIn(folder);
  assert.ok((await readFile(path as string)).equals(content));
});

test('the links are signed by this service', async () => {
  const { storage, links } = await createStorageForTest();
  const expiresAt = new Date(clock.now().getTime() + 60_000);
  const organizationGuid = newGuid();
  const upload = { guid: newGuid(), organizationGuid, ...TERMS, expiresAt };
  assert.equal(await storage.uploadUrl(upload), links.uploadUrl(upload));
  const download = { ...upload, filename: 'a.png' };
  assert.equal(await storage.downloadUrl(download), links.downloadUrl(download));
});

const MEBIBYTE = 1_048_576;

test('a put ends when free space reaches the minimum, and nothing is left behind', async () => {
  const free = [40, 30, 20].map((mebibytes) => mebibytes * MEBIBYTE);
  const freeBytes = async () => free.shift() ?? 0;
  const { storage, folder } = await createStorageForTest({ minFreeBytes: 25 * MEBIBYTE, freeBytes });
  let sent = 0;
  async function* endless() {
    for (; sent < 200; sent++) yield Buffer.alloc(MEBIBYTE);
  }
  const put = storage.put(newGuid(), endless(), { ...TERMS, maxBytes: 500 * MEBIBYTE });
  await assert.rejects(put, StorageFull);
  assert.ok(sent < 50, `${sent} MiB were read`);
  assert.deepEqual(await filesIn(folder), []);
});

test('free space is checked before content is written', async () => {
  const { storage } = await createStorageForTest({ minFreeBytes: 100, freeBytes: async () => 1_000 });
  await storage.requireSpace(900);
  await assert.rejects(storage.requireSpace(901), StorageFull);
});

test('content is listed folder by folder, without unfinished puts', async () => {
  const { storage, folder } = await createStorageForTest();
  assert.deepEqual(await storage.listContent(undefined), { contents: [], next: undefined });
  const guids = Array.from(
    { length: 1_005 },
    (_, n) => `0190163d86947395b2f5c1d2${n.toString(16).padStart(8, '0')}`,
  );
  for (const guid of guids) {
    const inner = join(folder, guid.slice(-2), guid.slice(-4, -2));
    await mkdir(inner, { recursive: true });
    await writeFile(join(inner, guid), '');
  }
  await mkdir(join(folder, 'temporary'));
  await writeFile(join(folder, 'temporary', newGuid()), 'half');
  await writeFile(join(folder, '00', '00', 'notes.txt'), 'not ours');
  const first = await storage.listContent(undefined);
  assert.ok(first.next !== undefined && first.contents.length < 1_005, 'a page is bounded');
  const second = await storage.listContent(first.next);
  assert.equal(second.next, undefined);
  const listed = [...first.contents, ...second.contents];
  assert.deepEqual(listed.map(({ guid }) => guid).sort(), guids);
  assert.ok(listed.every(({ storedAt }) => storedAt instanceof Date));
});
