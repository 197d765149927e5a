import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** The proxy configuration of docs/operators/scaling.md. */
const FOLDER = import.meta.dirname;
const MAP_PATH = '/etc/haproxy/cells.map';
const config = await readFile(join(FOLDER, 'haproxy.cfg'), 'utf8');
const map = await readFile(join(FOLDER, 'cells.map'), 'utf8');
const page = await readFile(join(FOLDER, '..', 'scaling.md'), 'utf8');

const names = (section: string) =>
  Array.from(config.matchAll(new RegExp(`^${section} (\\S+)$`, 'gm')), ([, name = '']) => name);
const backends = new Set(names('backend'));
const cells = new Set([...backends].filter((name) => !name.endsWith('-operator')));
const entries = Array.from(map.matchAll(/^([^#\s]\S*)\s+(\S+)$/gm), ([, host = '', cell = '']) => ({
  host,
  cell,
}));

test('every cell of the page and of the map has both backends, and every backend a server', () => {
  const named = new Set(Array.from(page.matchAll(/\bcell-\d+\b/g), ([cell]) => cell));
  assert.ok(named.size >= 2);
  assert.deepEqual(named, cells);
  assert.deepEqual(new Set(entries.map(({ cell }) => cell)), cells);
  assert.deepEqual(backends, new Set([...cells].flatMap((cell) => [cell, `${cell}-operator`])));
  for (const section of config.split(/^(?=backend )/m).slice(1))
    assert.match(section, /^ {2}server \S+ \S+:\d+ check$/m);
});

test('each host name is in the map once, and an Organization is whole in one cell', () => {
  assert.equal(new Set(entries.map(({ host }) => host)).size, entries.length);
  const roles = ['api.example.com', 'auth.example.com', 'auth.sandbox.example.com', 'operator.internal'];
  const owners = Map.groupBy(
    entries.filter(({ host }) => roles.some((role) => host.endsWith(`.${role}`))),
    ({ host }) => host.split('.')[0],
  );
  assert.ok(owners.size >= 2);
  for (const [owner, own] of owners) {
    assert.deepEqual(
      own.map(({ host }) => host),
      roles.map((role) => `${owner}.${role}`),
    );
    assert.equal(new Set(own.map(({ cell }) => cell)).size, 1, `${owner} is in one cell`);
  }
});

test('a cell gets its own name instead of that of the Organization', () => {
  for (const cell of cells)
    for (const role of ['api', 'auth', 'auth.sandbox']) {
      const line = `http-request set-header Host ${role}.${cell}.example.com if { var(txn.host) -m end .${role}.example.com }`;
      assert.ok(config.includes(`  ${line}\n`), line);
      assert.ok(entries.some(({ host }) => host === `${role}.${cell}.example.com`));
    }
  assert.equal(config.split(MAP_PATH).length - 1, 2, 'both frontends read the map');
});

test('HAProxy accepts the configuration', async (t) => {
  const run = promisify(execFile);
  const version = await run('haproxy', ['-v']).catch(() => undefined);
  if (!version) return t.skip('haproxy is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'portico-haproxy-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'cells.map'), map);
  // Paths and addresses of the example do not exist on this machine.
  const local = config
    .replaceAll(MAP_PATH, join(folder, 'cells.map'))
    .replace('/run/haproxy/admin.sock', join(folder, 'admin.sock'))
    .replace(' ssl crt /etc/haproxy/certificates/', '')
    .replace('bind :443', 'bind 127.0.0.1:0')
    .replace('bind 10.0.0.10:4001', 'bind 127.0.0.1:0');
  await writeFile(join(folder, 'haproxy.cfg'), local);
  await run('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')]);
});
