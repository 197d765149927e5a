import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { BOUNDED, createSite, type Running, type Site, waitFor } from '../../testing/app/serve.ts';
import { runCommand } from '../infrastructure/runtime/run-command.ts';
import { version } from '../infrastructure/runtime/version.ts';

const LOGGED_SECRETS = /^ {2}Standard output is not a terminal: /m;
const LAST_LINE = 'Stop with Ctrl-C.';
const CREDENTIALS = /^ {2}client_id +(?<id>\S+)\n {2}client_secret +(?<secret>\S+)$/m;

async function welcomed(running: Running): Promise<void> {
  await waitFor('the welcome', running, () => running.out().includes(LAST_LINE));
}

/** The demo delivers events for some seconds, so a stop may find and log deliveries in flight. */
const screenOf = ({ out }: { out: string }) => out.replace(/^.*stopping the dispatcher.*\n/m, '');

/** The whole output: a warning or log line before or after the screen fails the test. */
function assertScreen({ port }: Site, screen: string): void {
  assert.ok(screen.startsWith(`\n  Portico ${version} is ready.\n\n  Dashboard `), screen);
  assert.ok(screen.endsWith(`\n  ${LAST_LINE}\n\n`), screen);
  assert.match(screen, new RegExp(`^  Dashboard +http://localhost:${port}/login$`, 'm'));
  assert.match(screen, new RegExp(`^  API +http://localhost:${port}$`, 'm'));
  assert.match(screen, new RegExp(`^  Reference +http://localhost:${port}/docs$`, 'm'));
  assert.match(screen, new RegExp(`^  Guides +http://localhost:${port}/guides$`, 'm'));
  assert.match(
    screen,
    /^ {2}Operator +PORTICO_PORT=\d+ npx portico operator --help .*data\/operator\.token/m,
  );
}

/** The credentials of the first screen work as shown. */
async function assertDemo(site: Site, screen: string): Promise<void> {
  const { id, secret } = CREDENTIALS.exec(screen)?.groups ?? {};
  const response = await fetch(`http://localhost:${site.port}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'customers:read' }),
  });
  assert.equal(response.status, 200, await response.text());
  const guid = await onlyOrganization(site);
  assert.match(screen, new RegExp(`^  Organization +${guid} `, 'm'));
}

function aroundBlock(screen: string, begin: string): string[] {
  const at = screen.indexOf(begin);
  return [screen.slice(0, at), screen.slice(at)];
}

/** The command on the second screen creates a link by which the Founder logs in again. */
async function assertWayBack(site: Site, screen: string): Promise<void> {
  const shown = /^ {2}New password +PORTICO_PORT=(\d+) npx portico (.+)$/m.exec(screen);
  assert.equal(shown?.[1], String(site.port));
  const { code, out, err } = await site.run((shown[2] ?? '').split(' '));
  assert.equal(code, 0, err);
  const { link } = JSON.parse(out) as { link: string };
  const response = await fetch(`${site.url}/dashboard/password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      token: new URL(link).hash.slice('#token='.length),
      password: 'a brand new password',
    }),
  });
  const { member } = (await response.json()) as { member: { email: string } };
  assert.equal(response.status, 200);
  assert.ok(screen.includes(`for ${member.email}:`));
  assert.match(screen, /^ {2}Start over +stop, and delete data$/m);
}

async function onlyOrganization({ operate }: Site): Promise<string> {
  const { body } = await operate('GET', '/organizations');
  const [organization, ...others] = body.objects as { guid: string; name: string }[];
  assert.ok(organization);
  assert.deepEqual([organization.name, others], ['Demo Organization', []]);
  return organization.guid;
}

test('the first start shows a demo, and the second keeps its credentials', BOUNDED, async (t) => {
  const site = await createSite(t);
  const first = await site.serve();
  await welcomed(first);
  await assertDemo(site, first.out());
  assert.match(first.out(), LOGGED_SECRETS);
  const guid = await onlyOrganization(site);
  assert.equal((await fetch(`${site.url}/docs`)).status, 200);
  first.kill('SIGTERM');
  const one = await first.exited;
  assert.deepEqual([one.code, one.err], [0, '']);
  assertScreen(site, screenOf(one));

  const second = await site.serve();
  await welcomed(second);
  assert.equal(await onlyOrganization(site), guid);
  await assertWayBack(site, second.out());
  second.kill('SIGTERM');
  const two = await second.exited;
  assert.deepEqual([two.code, two.err], [0, '']);
  assertScreen(site, screenOf(two));
  assert.doesNotMatch(two.out, /client_|secret/i);
  const token = (await readFile(join(site.dataDir, 'operator.token'), 'utf8')).trim();
  assert.ok(!two.out.includes(token));
  // Both screens differ only in the block with the credentials or the way to a new password.
  const [before = '', made = ''] = aroundBlock(screenOf(one), '  A demo to try it with.');
  const [same = '', wayBack = ''] = aroundBlock(screenOf(two), "  The demo's password was shown");
  assert.equal(before, same);
  assert.equal(made.split('\n').at(-3), wayBack.split('\n').at(-3));
});

const hasTerminals = (await runCommand('script', ['--version'])).stdout.includes('util-linux');
const atTerminal = { ...BOUNDED, skip: hasTerminals ? false : 'script(1) of util-linux is not installed' };
const plain = (screen: string) => stripVTControlCharacters(screen).replaceAll('\r', '').replace('^C', '');

test('at a terminal the same screen has colours, and Ctrl-C stops the service', atTerminal, async (t) => {
  const site = await createSite(t);
  const running = site.startAtTerminal(['serve']);
  await welcomed(running);
  await assertDemo(site, plain(running.out()));
  assert.doesNotMatch(running.out(), LOGGED_SECRETS);
  running.type('\x03');
  const { code, out, err } = await running.exited;
  assert.deepEqual([code, err], [0, '']);
  assertScreen(site, screenOf({ out: plain(out) }));
  assert.ok(out.includes(`\x1b[1mPortico ${version}\x1b[22m`));
  assert.deepEqual(await site.databaseProcesses(), []);
});

test(
  'Ctrl-C at a terminal during the creation of the database exits without an error',
  atTerminal,
  async (t) => {
    const site = await createSite(t);
    const running = site.startAtTerminal(['serve']);
    await waitFor('initdb', running, async () => (await site.databaseProcesses()).length > 0);
    running.type('\x03');
    const { code, out } = await running.exited;
    assert.deepEqual([code, plain(out).trim()], [0, '']);
    assert.deepEqual(await site.databaseProcesses(), []);
  },
);
