import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A fake npm: records its calls, then creates what npm would create, or fails on demand. */
const FAKE_NPM = `
const fs = require('node:fs');
fs.appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
if (fs.existsSync('fail')) { process.stderr.write('npm error network down\\n'); process.exit(7); }
fs.rmSync('node_modules', { recursive: true, force: true });
setTimeout(() => {
  fs.mkdirSync('node_modules/tiny', { recursive: true });
  fs.writeFileSync('node_modules/tiny/package.json', '{"name":"tiny","version":"1.0.0"}');
  const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
}, 300);
`;

const setupFiles = ['setup.cjs', 'setup-lock.cjs', 'setup-state.cjs'];

test('installs once, then does nothing until the lock file changes', async (t) => {
  const project = await createProject(t);
  const first = await project.setup();
  assert.match(first.stderr, /^Installing dependencies \(first start, about a minute\) … done in \d+ s\n$/);
  assert.deepEqual([first.code, first.stdout], [0, '']);
  assert.equal((await project.stamp())[2], 'into an empty folder');
  assert.deepEqual(await project.setup(), { code: 0, stdout: '', stderr: '' });
  assert.deepEqual(await project.calls(), [
    'install --no-save --no-audit --no-fund --loglevel=error --include=dev --include=optional',
  ]);

  await project.writeLock('2.0.0');
  assert.match((await project.setup()).stderr, /^Updating dependencies … done in/);
  assert.deepEqual((await project.stamp()).slice(1), ['with tools', '']);
  assert.equal((await project.calls()).length, 2);
  assert.deepEqual(
    (await project.list()).filter((name) => name.startsWith('.')),
    [],
  );
});

test('two concurrent runs install once', async (t) => {
  const project = await createProject(t);
  const results = await Promise.all([project.setup(), project.setup(), project.setup()]);
  assert.deepEqual(
    results.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.equal((await project.calls()).length, 1);
});

test('a lock of a dead process, or of a reused process id, does not block', async (t) => {
  const project = await createProject(t);
  const left = [
    { pid: 2 ** 22 + 1, startedAt: '1' },
    { pid: process.platform === 'linux' ? process.pid : 2 ** 22 + 2, startedAt: '1' },
  ];
  await writeFile(join(project.root, '.setup.lock'), JSON.stringify(left));
  assert.equal((await project.setup()).code, 0);
  assert.equal((await project.calls()).length, 1);
});

test('a complete manual installation needs no npm', async (t) => {
  const project = await createProject(t);
  await mkdir(join(project.root, 'node_modules/tiny'), { recursive: true });
  await writeFile(join(project.root, 'node_modules/tiny/package.json'), '{}');
  await cp(join(project.root, 'package-lock.json'), join(project.root, 'node_modules/.package-lock.json'));
  assert.deepEqual(await project.setup(), { code: 0, stdout: '', stderr: '' });
  assert.deepEqual(await project.calls(), []);
});

test('start works without the development tools, and a test installs them', async (t) => {
  const project = await createProject(t, { dev: true });
  await mkdir(join(project.root, 'node_modules'));
  await writeFile(join(project.root, 'node_modules/.package-lock.json'), '{"packages":{}}');
  for (let round = 0; round < 2; round += 1) await project.setup({ npm_lifecycle_event: 'prestart' });
  assert.deepEqual(await project.calls(), []);
  for (let round = 0; round < 2; round += 1) await project.setup({ npm_lifecycle_event: 'pretest' });
  assert.equal((await project.calls()).length, 1);
});

test("a failure shows npm's output and one sentence, and the next run retries", async (t) => {
  const project = await createProject(t);
  await writeFile(join(project.root, 'fail'), '');
  const failed = await project.setup();
  assert.equal(failed.code, 1);
  assert.match(
    failed.stderr,
    /npm error network down\nnpm could not install the dependencies \(exit code 7\)/,
  );
  await rm(join(project.root, 'fail'));
  assert.equal((await project.setup()).code, 0);
});

test('an old Node and a platform without a runtime are reported', async (t) => {
  const project = await createProject(t);
  const old = await project.setup({}, '18.20.0');
  assert.equal(old.code, 1);
  assert.match(old.stderr, /^Portico needs Node\.js 20 or newer and this is 18\.20\.0; .*nodejs\.org\.\n$/);
  const without = await project.setup({}, '22.0.0');
  assert.equal(without.code, 1);
  assert.match(
    without.stderr,
    /Portico requires Node\.js 24 or newer, which npm could not install for \w+-\w+; /,
  );
});

test('with the real npm, offline', async (t) => {
  const project = await createProject(t);
  await writeFile(join(project.root, 'package.json'), '{"name":"project","version":"1.0.0"}');
  const lock = {
    name: 'project',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: { '': { name: 'project' } },
  };
  await writeFile(join(project.root, 'package-lock.json'), JSON.stringify(lock));
  await mkdir(join(project.root, 'node_modules'));
  const result = await project.setup({ npm_execpath: '', npm_config_offline: 'true' });
  assert.deepEqual([result.code, result.stdout], [0, '']);
  assert.match(result.stderr, /^Updating dependencies … done in \d+ s\n$/);
});

async function createProject(t: TestContext, { dev = false } = {}) {
  const root = await mkdtemp(join(tmpdir(), 'portico-setup-'));
  t.after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(root, 'scripts'));
  for (const name of setupFiles)
    await cp(fileURLToPath(import.meta.resolve(`./${name}`)), join(root, 'scripts', name));
  await writeFile(join(root, 'npm-cli.js'), FAKE_NPM);
  await writeFile(join(root, 'package.json'), '{"name":"project"}');
  const writeLock = (version: string) =>
    writeFile(
      join(root, 'package-lock.json'),
      JSON.stringify({ packages: { '': {}, 'node_modules/tiny': { version, dev } } }),
    );
  await writeLock('1.0.0');

  return {
    root,
    writeLock,
    list: () => readdir(root),
    stamp: async () => (await readFile(join(root, 'node_modules', '.portico-setup'), 'utf8')).split('\n'),
    async calls() {
      const text = await readFile(join(root, 'calls'), 'utf8').catch(() => '');
      return text.split('\n').filter(Boolean);
    },
    /** `pretendVersion` makes this Node report another version. */
    async setup(env: NodeJS.ProcessEnv = {}, pretendVersion?: string) {
      const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${pretendVersion}' } })`;
      await writeFile(join(root, 'pretend.cjs'), pretendVersion === undefined ? '' : pretend);
      const child = spawn(
        process.execPath,
        ['--require', join(root, 'pretend.cjs'), join(root, 'scripts/setup.cjs')],
        {
          env: {
            PATH: process.env.PATH,
            HOME: root,
            npm_execpath: join(root, 'npm-cli.js'),
            npm_node_execpath: process.execPath,
            npm_lifecycle_event: 'pretest',
            ...env,
          },
        },
      );
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, stdout, stderr };
    },
  };
}
