import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  findServicePort,
  processesOn,
  type Running,
  untilReady,
  waitFor,
  watch,
} from '../testing/app/serve.ts';

/**
 * `npm start` and then `npm test` in a fresh clone. The copy has only the files of the clone; npm works as on this
 * machine, with its registry and its cache.
 */
const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');
/** The record of the set-up. */
const STAMP = '.portico-setup';
/** A minute on an idle machine. */
const INSTALLATION_MS = 600_000;
const LIMIT = { timeout: 900_000 };
const BUILT = /^Building the dashboard … done in \d+ s\n$/;
const INSTALLED_AND_BUILT =
  /^Installing dependencies \(first start, about a minute\) … done in \d+ s\nBuilding the dashboard … done in \d+ s\n$/;

test('a fresh clone serves after npm start, and its tests pass after npm test', LIMIT, async (t) => {
  const { directory, start, url } = await createClone(t);
  const isInstalled = readFileSync(join(MODULES, STAMP), 'utf8').includes('\ninto an empty folder\n');
  if (isInstalled) {
    t.diagnostic('this folder is a fresh clone that installed its dependencies: they are copied');
    copyDependencies(join(directory, 'node_modules'));
  }

  const first = start('npm', 'start');
  const isSetUp = () => first.err().includes('dashboard … done');
  await waitFor('the set-up', first, isSetUp, INSTALLATION_MS);
  await untilReady(url, first);
  assert.match(ownWords(first.err()), isInstalled ? BUILT : INSTALLED_AND_BUILT);
  await waitFor('the welcome', first, () => first.out().includes('client_secret'));
  const token = (await readFile(join(directory, 'data', 'operator.token'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${token}` };
  const organizations = await fetch(`${url}/operator/organizations`, { headers });
  assert.equal(((await organizations.json()) as { total: number }).total, 1);
  await stop(first, directory);

  const installed = join(directory, 'node_modules', '.package-lock.json');
  const { mtimeMs } = await stat(installed);
  const second = start('npm', 'start');
  await untilReady(url, second);
  assert.equal(ownWords(second.err()), '');
  await stop(second, directory);

  // One file that needs the database of a run: all of them would include this one.
  const tests = await start('npm', 'test', '--', 'docs/operators/runbook.test.ts').exited;
  assert.equal(tests.code, 0, `${tests.out}${tests.err}`);
  assert.match(tests.out, /\n[1-9]\d* passed, 0 failed, \d+ skipped\n$/);
  assert.equal(ownWords(tests.err), '');

  const help = await start('npx', 'portico', '--help').exited;
  assert.match(help.out, /^Usage: portico <command>\n/);
  assert.equal((await stat(installed)).mtimeMs, mtimeMs, 'nothing was installed again');
  assert.deepEqual(await processesOn(directory), []);
});

/** Without npm's warnings about this machine's configuration. */
function ownWords(text: string): string {
  return text.replace(/^npm warn .*\n/gm, '');
}

/** Like a supervisor: the signal goes to npm alone. */
async function stop(npm: Running, directory: string): Promise<void> {
  npm.kill('SIGTERM');
  await npm.exited;
  assert.deepEqual(await processesOn(directory), [], 'npm ended and left processes running');
}

async function createClone(t: TestContext) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'portico clone ')));
  // As root, PostgreSQL runs as another user, who needs access.
  await chmod(base, 0o711);
  const directory = join(base, 'portico');
  const home = join(base, 'home');
  t.after(async () => {
    for (const pid of await processesOn(base)) spawnSync('kill', ['-9', String(pid)]);
    await rm(base, { recursive: true, force: true, maxRetries: 10 });
  });
  await mkdir(home);
  await copyClone(directory);
  const port = await findServicePort();
  const env = { ...machineEnvironment(), HOME: home, PORTICO_PORT: String(port) };
  return {
    directory,
    url: `http://127.0.0.1:${port}`,
    start: (program: 'npm' | 'npx', ...args: string[]) =>
      watch(spawn(program, args, { cwd: directory, env })),
  };
}

/** Tracked and untracked files of git; without git, everything except generated files. */
async function copyClone(to: string): Promise<void> {
  const { status, stdout } = spawnSync('git', ['ls-files', '-coz', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) {
    const made = ['node_modules', 'data', '.git'].map((name) => join(ROOT, name));
    return await cp(ROOT, to, { recursive: true, filter: (path) => !made.includes(path) });
  }
  for (const file of stdout.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name))))
    await cp(join(ROOT, file), join(to, file));
}

/** Without what the first start adds. */
function copyDependencies(to: string): void {
  for (const name of readdirSync(MODULES))
    if (name !== '.cache' && name !== STAMP)
      cpSync(join(MODULES, name), join(to, name), { recursive: true, verbatimSymlinks: true });
}

/** Without variables that this test run (perhaps itself run by npm) has added. */
function machineEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(PORTICO_|NODE_|TEST_DATABASE_|npm_(?!config_)|npm_config_local_prefix$|INIT_CWD$)/;
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const userConfig = join(homedir(), '.npmrc');
  return {
    ...(existsSync(userConfig) ? { NPM_CONFIG_USERCONFIG: userConfig } : {}),
    npm_config_cache: join(homedir(), '.npm'),
    npm_config_prefer_offline: 'true',
    ...kept,
    PATH: path.join(delimiter),
  };
}
