import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { after, test } from 'node:test';
import { runCli } from '../testing/cli.ts';
import { createProfiles } from './profiles.ts';

const configDir = await mkdtemp(join(tmpdir(), 'portico-cli-'));
after(() => rm(configDir, { recursive: true, force: true }));
const env = { PORTICO_CLI_CONFIG_DIR: configDir };
const profiles = createProfiles({ env });
const SECRET = 'portico_sk_secret';

async function save(name: string): Promise<void> {
  await profiles.save({
    ...{ name, url: 'https://api.example.com', authUrl: 'https://auth.example.com' },
    ...{ environment: 'sandbox', clientId: 'a', clientSecret: SECRET },
  });
}

test('profiles are listed without secrets, chosen and removed', async () => {
  assert.match((await runCli(['profiles', 'list'], { env, isTerminal: true })).out, /You are not logged in/);
  for (const name of ['default', 'live']) await save(name);
  assert.equal((await stat(profiles.path)).mode & 0o777, 0o600);
  const current = async () => {
    const { out } = await runCli(['profiles', 'list', '--json'], { env });
    assert.ok(!out.includes(SECRET));
    return (JSON.parse(out) as { name: string; current: boolean }[]).find((each) => each.current)?.name;
  };
  assert.equal(await current(), 'live', 'the last one that was stored');
  assert.equal((await runCli(['profiles', 'use', 'default'], { env })).code, 0);
  assert.equal(await current(), 'default');
  const unknown = await runCli(['profiles', 'use', 'constructor'], { env });
  assert.deepEqual(
    [unknown.code, unknown.err],
    [3, 'portico: There is no profile constructor; there are default, live.\n'],
  );
  const removed = await runCli(['logout', '--json'], { env });
  assert.deepEqual(JSON.parse(removed.out), { removed: 'default' });
  assert.equal(await current(), undefined, 'no other key pair is used instead');
  const none = await runCli(['open', '--print'], { env });
  assert.equal(none.code, 3);
  assert.match(
    none.err,
    /^portico: No profile is current; there are live\. Choose one with portico profiles use/,
  );
});

test('the profile of the environment variable is the one that is removed', async () => {
  for (const name of ['live', 'default']) await save(name);
  const live = { ...env, PORTICO_CLI_PROFILE: 'live' };
  const { out } = await runCli(['logout', '--json'], { env: live });
  assert.deepEqual(JSON.parse(out), { removed: 'live' });
  assert.equal((await runCli(['logout'], { env: live })).code, 3);
  assert.deepEqual(
    (await profiles.list()).map(({ name }) => name),
    ['default'],
  );
});

test('a part of the variables of a key pair is refused instead of using a stored one', async () => {
  await save('default');
  const variables = { PORTICO_CLI_URL: 'https://api.example.com', PORTICO_CLI_CLIENT_ID: 'b' };
  const whole = { ...env, ...variables, PORTICO_CLI_CLIENT_SECRET: SECRET };
  for (const [given, name] of [
    [
      { ...env, ...variables, PORTICO_CLI_CLIENT_SECRET: '' },
      /^portico: PORTICO_CLI_CLIENT_SECRET is not set\. /,
    ],
    [{ ...env, PORTICO_CLI_ENVIRONMENT: 'production' }, /^portico: PORTICO_CLI_URL is not set\. /],
    [
      { ...whole, PORTICO_CLI_ENVIRONMENT: 'Production' },
      /^portico: PORTICO_CLI_ENVIRONMENT must be sandbox or production\./,
    ],
  ] as const) {
    const { code, err } = await runCli(['open', '--print'], { env: given });
    assert.equal(code, 2);
    assert.match(err, name);
    const chosen = await runCli(['open', '--print', '--profile', 'default'], { env: given });
    assert.equal(chosen.code, 0, 'a profile that is named needs no variables');
  }
});

test('secrets are stored in the home directory, never in the working directory', () => {
  for (const given of [{}, { XDG_CONFIG_HOME: '' }, { XDG_CONFIG_HOME: 'settings' }, { APPDATA: '' }])
    assert.equal(
      createProfiles({ env: { HOME: '/home/ada', ...given } }).path,
      '/home/ada/.config/portico/profiles.json',
    );
  const chosen = createProfiles({ env: { HOME: '/home/ada', XDG_CONFIG_HOME: '/settings' } });
  assert.equal(chosen.path, '/settings/portico/profiles.json');
  assert.ok(isAbsolute(createProfiles({ env: { HOME: '' } }).path));
});

test('a broken file is an error with its path', async () => {
  for (const broken of ['{"current":', '[]', 'null']) {
    await writeFile(profiles.path, broken);
    const { code, err } = await runCli(['profiles', 'list'], { env });
    assert.equal(code, 1);
    assert.ok(err.startsWith(`portico: ${profiles.path} cannot be read: `), err);
  }
});
