import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { BOUNDED, createSite, type Running, waitFor } from '../../testing/app/serve.ts';
import { isPostmasterOf } from '../infrastructure/database/embedded/server/process-identity.ts';
import { postmasterPid } from '../infrastructure/database/embedded/testing/temporary-server.ts';

/** One data directory for all tests: the first one leaves it new, and each start finds that of the stop before. */
const site = await createSite({ after });

/** A clean exit: code 0, nothing on stderr, no PostgreSQL process, and the lock released. */
async function assertStopped(running: Running): Promise<void> {
  const { code, signal, err } = await running.exited;
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' });
  assert.deepEqual(await site.databaseProcesses(), []);
  const left = await readdir(site.dataDir);
  assert.deepEqual(
    left.filter((name) => name.startsWith('portico.lock') || name.startsWith('postgres.init-')),
    [],
  );
}

/** A request whose body is half sent and which the service has started to read. */
async function beginOrganization() {
  const body = JSON.stringify({ name: 'In flight' });
  const token = (await readFile(join(site.dataDir, 'operator.token'), 'utf8')).trim();
  const posting = request(`${site.url}/operator/organizations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  posting.flushHeaders();
  await once(posting, 'continue');
  posting.write(body.slice(0, 5));
  return { posting, rest: body.slice(5) };
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
/** Files in the data directory that show the progress of a first start, in order. */
const moments: Record<string, () => Promise<boolean>> = {
  'the folder is locked': () => exists(join(site.dataDir, 'portico.lock')),
  'the database is being created': async () => (await site.databaseProcesses()).length > 0,
  'PostgreSQL is starting': () => exists(join(site.dataDir, 'postgres', 'postmaster.pid')),
};

test('a signal during the start aborts it and leaves nothing behind', BOUNDED, async () => {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const [index, [moment, hasCome]] of Object.entries(moments).entries()) {
    const running = site.start(['serve']);
    await waitFor(moment, running, hasCome);
    running.kill(signals[index] ?? 'SIGTERM');
    await assertStopped(running);
    assert.equal(running.out(), '', `${moment}: no welcome after a stop`);
  }
});

/** The Organization of the request that was in flight at the stop. */
let finished: string;

test('SIGTERM finishes the request in flight and then stops everything', BOUNDED, async () => {
  const running = await site.serve();
  assert.ok(running.out().includes('A demo to try it with'), 'the aborted starts created no demo');
  const postmaster = await postmasterPid(site.dataDir);
  assert.ok(await isPostmasterOf(join(site.dataDir, 'postgres'), postmaster));
  assert.ok((await site.databaseProcesses()).includes(postmaster));

  const { posting, rest } = await beginOrganization();
  const answered = once(posting, 'response');
  running.kill('SIGTERM');
  await waitFor('no new connections', running, () => isRefused(site.port));
  posting.end(rest);
  const [response] = await answered;
  assert.deepEqual([response.statusCode, response.headers.connection], [201, 'close']);
  const created = (await json(response)) as { guid: string };
  await assertStopped(running);

  finished = created.guid;
});

test('a client that never finishes its request does not keep PostgreSQL running', BOUNDED, async () => {
  const running = await site.serve();
  assert.equal((await site.operate('GET', `/organizations/${finished}`)).status, 200);
  const { posting } = await beginOrganization();
  const cut = once(posting, 'error');
  // As when Ctrl-C reaches this process both from the terminal and from npm.
  for (let times = 0; times < 5; times += 1) running.kill('SIGINT');
  await assertStopped(running);
  // By the shutdown: a body that does not arrive in time gets a response, much later.
  assert.equal((await cut)[0].code, 'ECONNRESET');
});
