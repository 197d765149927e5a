import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { systemTimers } from '../../../infrastructure/runtime/clock.ts';
import { ScanError } from './clamd.ts';
import { createScanner } from './scan.ts';
import { type Behaviour, createClamdDouble } from './testing/clamd-double.ts';

async function createClamd(behaviour: Behaviour = {}, path?: string) {
  const clamd = await createClamdDouble(behaviour, path);
  after(() => clamd.close());
  const { scan } = createScanner({ clamd: clamd.address, timers: systemTimers });
  return { ...clamd, scan };
}

const streamOf = (...pieces: (Buffer | string)[]) =>
  Readable.from(pieces.map((piece) => Buffer.from(piece as string)));

test('content without a finding is clean, and clamd received every byte', async () => {
  const { scan, conversations } = await createClamd();
  const pieces = [randomBytes(65_536), Buffer.alloc(0), randomBytes(1), randomBytes(300_000)];
  assert.equal(await scan(streamOf(...pieces)), 'clean');
  assert.deepEqual(conversations[0]?.chunks, [65_536, 1, 300_000]);
  assert.ok(conversations[0]?.received.equals(Buffer.concat(pieces)));
});

test('a virus is found, also across two chunks', async () => {
  const { scan } = await createClamd();
  assert.equal(await scan(streamOf('before EIC', 'AR after')), 'infected');
});

test('an empty stream is clean', async () => {
  const { scan } = await createClamd();
  assert.equal(await scan(streamOf()), 'clean');
});

test('Unix sockets are supported', {
  skip: platform === 'win32' && 'no such sockets',
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-clamd-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const { scan } = await createClamd({}, join(folder, 'clamd.sock'));
  assert.equal(await scan(streamOf('EICAR')), 'infected');
});

test('content over the limit of clamd is too large, though clamd closes the connection early', async () => {
  const { scan, conversations } = await createClamd({ maxBytes: 100_000 });
  async function* endless() {
    for (;;) yield Buffer.alloc(65_536);
  }
  const content = Readable.from(endless());
  assert.equal(await scan(content), 'too_large');
  assert.ok(content.destroyed);
  assert.equal(conversations.length, 1);
});

test('the reply is read though clamd closes the connection while a chunk is written', async () => {
  for (const lastWord of ['INSTREAM size limit exceeded. ERROR\0', '']) {
    const { scan, hangUp, conversations } = await createClamd();
    async function* content() {
      yield Buffer.from('first');
      while (conversations[0]?.chunks.length !== 1) await turnOfTheLoop();
      hangUp(lastWord);
      // Before the event loop continues: nothing was read yet, and the connection is already broken.
      yield Buffer.from('second');
      yield Buffer.from('third');
    }
    const scanned = scan(Readable.from(content()));
    if (lastWord) assert.equal(await scanned, 'too_large');
    else await assert.rejects(scanned, ScanError);
  }
});

test('content that clamd did not scan to the end is too large, not clean', async () => {
  const { scan } = await createClamd({ answer: 'stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0' });
  assert.equal(await scan(streamOf('content')), 'too_large');
});

test('an unexpected reply is never clean', async () => {
  for (const answer of ['stream: Broken ERROR\0', 'PONG\0', '\0', 'stream: OKAY\0', 'x'.repeat(5_000)]) {
    const { scan } = await createClamd({ answer });
    await assert.rejects(scan(streamOf('content')), ScanError, answer);
  }
});

test('a reply before the end of the content is never clean', async () => {
  const { scan } = await createClamd({ greeting: 'stream: OK\0' });
  async function* endless() {
    for (;;) yield Buffer.alloc(65_536);
  }
  await assert.rejects(scan(Readable.from(endless())), ScanError);
});

test('connecting times out after five seconds', async () => {
  const { address } = await createClamd();
  const clock = createFakeClock();
  const scanned = createScanner({ clamd: address, timers: clock }).scan(streamOf('content'));
  clock.advance(5_000);
  await assert.rejects(scanned, {
    name: 'ScanError',
    message: 'clamd did not accept a connection within 5 s',
  });
});

test('sending a chunk times out after thirty seconds', async () => {
  const { address } = await createClamd({ isDeaf: true });
  const clock = createFakeClock();
  let isAsked = false;
  async function* large() {
    isAsked = true;
    yield Buffer.alloc(64 * 1_048_576);
  }
  const scanned = createScanner({ clamd: address, timers: clock }).scan(Readable.from(large()));
  // The command is sent before the content is read, so the one timer is that of the chunk.
  while (!isAsked || clock.waiting() !== 1) await turnOfTheLoop();
  clock.advance(29_999);
  assert.equal(clock.waiting(), 1);
  clock.advance(1);
  const message = 'clamd did not accept data within 30 s';
  await assert.rejects(scanned, { name: 'ScanError', message });
});

test('the reply times out after five minutes, also when it is incomplete', async () => {
  for (const answer of ['', 'stream: OK']) {
    const { address, conversations } = await createClamd({ answer });
    const clock = createFakeClock();
    const scanned = createScanner({ clamd: address, timers: clock }).scan(streamOf('content'));
    while (!conversations[0]?.isWhole || clock.waiting() !== 1) await turnOfTheLoop();
    clock.advance(299_999);
    assert.equal(clock.waiting(), 1);
    clock.advance(1);
    await assert.rejects(scanned, { name: 'ScanError', message: 'clamd did not reply within 300 s' });
  }
});

test('a scan leaves no timer and no connection behind', async () => {
  const { address, openConnections } = await createClamd();
  const clock = createFakeClock();
  assert.equal(await createScanner({ clamd: address, timers: clock }).scan(streamOf('content')), 'clean');
  assert.equal(clock.waiting(), 0);
  while (openConnections() > 0) await turnOfTheLoop();
});

test('a clamd that is down or closes the connection is a ScanError', async () => {
  const away = createScanner({ clamd: '127.0.0.1:1', timers: systemTimers });
  const content = streamOf('content');
  await assert.rejects(away.scan(content), ScanError);
  assert.ok(content.destroyed);
  const noSocket = createScanner({ clamd: '/nowhere/clamd.sock', timers: systemTimers });
  await assert.rejects(noSocket.scan(streamOf('content')), ScanError);
  for (const hangsUp of ['at once', 'at the end'] as const) {
    const { scan } = await createClamd({ hangsUp });
    await assert.rejects(scan(streamOf(Buffer.alloc(1_000_000), 'more')), ScanError);
  }
});

test('errors of the source are rethrown, and the connection to clamd is closed', async () => {
  const { scan, openConnections } = await createClamd();
  async function* failing() {
    yield Buffer.from('content');
    throw new Error('the store went away');
  }
  await assert.rejects(scan(Readable.from(failing())), { message: 'the store went away' });
  const failed = Readable.from(failing());
  failed.destroy(new Error('went before'));
  await assert.rejects(scan(failed), { message: 'went before' });
  while (openConnections() > 0) await turnOfTheLoop();
});
