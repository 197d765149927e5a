import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { VERSION } from '../../../sdk/src/version.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { localSigningKey } from '../listen/state.ts';
import type { Profile } from '../profiles/profiles.ts';
import { isUnencrypted } from '../profiles/unencrypted.ts';
import { runCli } from '../testing/cli.ts';
import { COMMANDS } from './commands.ts';

const configDir = await mkdtemp(join(tmpdir(), 'portico-cli-'));
after(() => rm(configDir, { recursive: true, force: true }));
/** Nothing listens there. */
const AWAY = 'http://127.0.0.1:2';
const env = {
  ...{ PORTICO_CLI_CONFIG_DIR: configDir, PORTICO_CLI_URL: AWAY },
  ...{ PORTICO_CLI_CLIENT_ID: 'a', PORTICO_CLI_CLIENT_SECRET: 'b' },
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const COLOUR = /\u001b\[/;

test('help and version have their usual forms, and options may stand before the command', async () => {
  const help = (await runCli(['listen', '--help'])).out;
  assert.equal((await runCli(['help', 'listen'])).out, help);
  for (const word of ['version', '--version', '-v']) assert.equal((await runCli([word])).out, `${VERSION}\n`);
  const { err } = await runCli(['--json', '--profile', 'live', 'whoami'], {
    env: { PORTICO_CLI_CONFIG_DIR: configDir },
  });
  assert.deepEqual(JSON.parse(err), { error: 'You are not logged in. Run portico login.', exit_code: 3 });
  const narrow = await runCli(['--help'], { columns: 60 });
  for (const line of narrow.out.split('\n')) assert.ok(line.length <= 60, line);
  assert.equal((await runCli(['--help'], { columns: 0 })).out, (await runCli(['--help'])).out);
});

test('a mistyped command is answered with a similar one', async () => {
  const { code, err } = await runCli(['lisen']);
  assert.deepEqual(
    [code, err],
    [2, 'portico: There is no command lisen. Did you mean listen? Run portico --help for the list.\n'],
  );
  assert.match((await runCli(['logni'])).err, /Did you mean login\?/);
  assert.match((await runCli(['help', 'logni'])).err, /Did you mean login\?/);
  assert.match((await runCli(['xyzzy'])).err, /There is no command xyzzy\. Run/);
});

test('colours are for terminals without NO_COLOR', async () => {
  const shown = await runCli(['trigger'], { isTerminal: true });
  assert.match(shown.out, COLOUR);
  for (const options of [
    {},
    { isTerminal: true, env: { NO_COLOR: '1' } },
    { isTerminal: true, env: { TERM: 'dumb' } },
  ])
    assert.doesNotMatch((await runCli(['trigger'], options)).out, COLOUR);
});

test('a prompt that is left with Ctrl-C or Ctrl-D ends the command', async () => {
  for (const input of ['\u0003', '\u0004']) {
    const { code, err } = await runCli(['login'], { isTerminal: true, input });
    assert.equal(code, 130);
    assert.match(err, /\n.*portico:.* Interrupted\.\n$/s);
  }
  const empty = await runCli(['login', '--url', AWAY], { isTerminal: true, input: '\r\n' });
  assert.match(empty.err, /Client id is missing/);
  const piped = ['login', '--url', AWAY, '--client-id', 'a', '--secret-stdin'];
  assert.match((await runCli(piped, { input: '\n' })).err, /^portico: Client secret is missing: /);
});

test('a secret that does not come on standard input can be interrupted', async () => {
  const args = ['login', '--url', AWAY, '--client-id', 'a', '--secret-stdin'];
  const { code } = await runCli(args, { signal: AbortSignal.timeout(1) });
  assert.equal(code, 130);
});

test('login warns before the secret goes unencrypted to another machine', async () => {
  for (const address of [
    'http://localhost:4000',
    'http://production.localhost:4000',
    'http://127.9.9.9',
    'http://[::1]:4000',
    'https://api.example.com',
    'nothing',
  ])
    assert.equal(isUnencrypted(address), false, address);
  for (const address of ['http://api.example.com', 'http://10.0.0.1:4000', 'http://localhost.example.com'])
    assert.equal(isUnencrypted(address), true, address);
  const args = ['login', '--url', 'http://0.0.0.0:9', '--client-id', 'a', '--secret-stdin'];
  const { err } = await runCli(args, { input: 'b', env: { PORTICO_CLI_CONFIG_DIR: configDir } });
  assert.match(err, /^Warning: http:\/\/0\.0\.0\.0:9 is not encrypted/);
  const asJson = await runCli([...args, '--json'], {
    input: 'b',
    env: { PORTICO_CLI_CONFIG_DIR: configDir },
  });
  assert.match(JSON.parse(asJson.err.split('\n')[0] ?? '').warning, /is not encrypted/);
});

test('listeners that start at once use the same signing key', async () => {
  const profile = { name: 'constructor' } as Profile;
  const keys = await Promise.all(Array.from({ length: 20 }, () => localSigningKey({ env }, profile)));
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal((await readdir(join(configDir, 'listen'))).length, 1, 'nothing is left over');
  const { out } = await runCli(['listen', '--print-key', '--json'], { env });
  assert.match(JSON.parse(out).signing_key, /^[0-9a-f]{64}$/);
});

test('event types can be all those of an object, and a pattern without types is refused', async () => {
  for (const [args, option] of [
    [['listen'], '--events'],
    [['events', 'list'], '--type'],
    [['deliveries', 'list'], '--type'],
  ] as const) {
    const { code, err } = await runCli([...args, option, 'transfre.*'], { env });
    assert.deepEqual([code, err], [2, `portico: ${option} transfre.* matches no event type.\n`]);
  }
});

test('wrong arguments are refused by their name, without a stack trace, before anything is sent', async () => {
  for (const [args, message] of [
    [['listen', '--forward-to', 'ftp://x'], /--forward-to must be a URL/],
    [['listen', '--loud'], /Unknown option '--loud'/],
    [['events'], /After events comes one of list, show, resend/],
    [['events', 'show'], /GUID is missing/],
    [['token'], /--scope is required/],
    [['token', '--scope', ' , '], /--scope is required/],
    [['redeliver'], /--subscription and --since are required/],
    [['events', 'list', '--since', 'soon'], /--since must be a duration/],
    [['completion', 'tcsh'], /SHELL must be one of bash, zsh, fish/],
    [['events', 'list', '--since', '999999d'], /--since must be a duration .*, and not before 1970\./],
    [['events', 'list', '--since', '-1h'], /^portico: --since needs a value\.\nUsage/],
    [['events', 'list', '--limit'], /^portico: --limit needs a value\.\nUsage/],
    [['events', 'list', '--json=yes'], /'--json' does not take an argument\.\nUsage/],
    [['events', 'list', '--type', ''], /--type must be an event type/],
    [
      ['files', 'upload', '/nowhere', '--type', 'visa', '--customer', '0'.repeat(32)],
      /\/nowhere is not a file/,
    ],
    [['fixtures', 'run', '/nowhere'], /\/nowhere cannot be read/],
    [['listen', '--forward-to', '0'], /--forward-to must be a URL/],
    [['listen', '--since', '1h', '--from-now'], /--since and --from-now exclude each other/],
  ] as const) {
    const { code, out, err } = await runCli(args, { env });
    assert.deepEqual([code, out], [2, ''], err);
    assert.match(err, message);
    assert.doesNotMatch(err, /\n {4}at /);
  }
  const refused = [
    await runCli(['open', 'constructor', '--print'], { env }),
    await runCli(['open', '--print'], { env: { ...env, PORTICO_CLI_URL: 'file:///etc/passwd' } }),
    await runCli(['whoami', '--profile', 'constructor'], { env }),
  ];
  for (const { code, out, err } of refused) {
    assert.ok(code !== 0 && out === '', err);
    assert.match(err, /There is no page|not an address|no profile|not logged in/);
  }
});

test('every command has help with examples, and is completed by every shell', async () => {
  for (const { name, examples } of COMMANDS) {
    const { code, out } = await runCli([...name.split(' '), '--help']);
    assert.equal(code, 0);
    for (const text of [`Usage: portico ${name}`, '--json', ...examples]) assert.ok(out.includes(text), name);
  }
  for (const shell of ['bash', 'zsh', 'fish'])
    assert.match((await runCli(['completion', shell])).out, /redeliver/);
  assert.equal((await runCli(['open', 'docs', '--print'], { env })).out, `${AWAY}/docs\n`);
});

test('an address without its scheme is refused by the name of its option', async () => {
  const args = ['login', '--url', 'localhost:4000', '--client-id', 'a', '--secret-stdin'];
  const { code, err } = await runCli(args, { input: 'b', env: { PORTICO_CLI_CONFIG_DIR: configDir } });
  assert.equal(code, 2);
  assert.match(err, /^portico: --url or PORTICO_CLI_URL must be an address such as https:/);
});

test('doctor says why a service cannot be reached, and goes on', async () => {
  const { code, out } = await runCli(['doctor'], { env });
  assert.equal(code, 7);
  assert.match(out, /^Service +FAILED +.*ECONNREFUSED/m);
  assert.match(out, /^Token +FAILED +The request to 127\.0\.0\.1:2 failed/m);
  const stopped = await runCli(['doctor'], { env, signal: AbortSignal.abort() });
  assert.equal(stopped.code, 130);
});

test('a command that does not go on ends if the service is away', BOUNDED, async () => {
  for (const args of [
    ['events', 'list'],
    ['logs', 'tail', '--no-follow'],
  ])
    assert.equal((await runCli(args, { env })).code, 6, args.join(' '));
});
