import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { bodyOf, type Delivery } from '../../server/webhooks/deliveries/delivery.ts';
import { signedHeaders, signingKeyOf } from '../../server/webhooks/deliveries/sending/signature.ts';
import {
  MAX_RECEIVING,
  MAX_RECEIVING_AT_URL,
  MAX_SUBSCRIPTIONS,
} from '../../server/webhooks/subscriptions/state.ts';

/** The snippets of docs/partners/webhooks.md, as they stand there, on what the service sends. */
const TEXT = await readFile(join(import.meta.dirname, 'webhooks.md'), 'utf8');
/** By these names because knip would look for packages of them. */
const [OPENSSL, PYTHON] = ['openssl', 'python3'];

const SIGNING_KEY = '0123456789abcdef'.repeat(4);
const EVENT = '01a1dded271772668bf2ec53663f72e8';
const BODY = Buffer.from(
  bodyOf({
    organizationGuid: '01a1ddeaeac3720b8fec30b900ccd5a9',
    environment: 'sandbox',
    eventGuid: EVENT,
    bankGuid: '01a1ddeaeac973a8b0d7d1730491bff1',
    eventType: 'transfer.completed',
    objectGuid: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  } as Delivery),
);
const OTHER_BODY = Buffer.from(BODY.toString().replace('completed', 'cancelled'));
const HEADERS = signedHeaders({
  key: signingKeyOf(new Secret(SIGNING_KEY)),
  eventGuid: EVENT,
  body: BODY.toString(),
  // The libraries compare it with the clock of the machine.
  at: new Date(),
});
const SIGNATURE = HEADERS['x-service-signature'] ?? '';
/** Signatures that must not pass: one digit changed, cut off, no hex, nothing. */
const FORGED = [
  SIGNATURE.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
  SIGNATURE.slice(2),
  'zz',
  '',
];

/** The one block of that language that contains these words. */
function snippet(language: string, words: string): string {
  const blocks = [...TEXT.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text = '']) => text,
  );
  const [found, ...others] = blocks.filter((text) => text.includes(words));
  assert.ok(found !== undefined && others.length === 0, `one block of ${language} with ${words}`);
  return found;
}

function load(source: string): Promise<Record<string, (...args: unknown[]) => unknown>> {
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}

const folder = await mkdtemp(join(tmpdir(), 'portico-docs-'));
after(() => rm(folder, { recursive: true }));

test('the body that is shown is the body that is sent', () => {
  assert.deepEqual(JSON.parse(snippet('json', '"event_type"')), JSON.parse(BODY.toString()));
  const shown = snippet('http', 'X-Service-Signature');
  for (const name of Object.keys(HEADERS)) assert.match(shown, new RegExp(`^${name}: `, 'im'));
  assert.match(shown, new RegExp(`^Content-Length: ${BODY.length}$`, 'm'));
});

test('every limit of subscriptions is in the table of limits', () => {
  const [, table = ''] = TEXT.split('\n## Limits\n');
  const limitOf = (what: string) => new RegExp(`^\\| ${what} +\\|(.*)\\|$`, 'm').exec(table)?.[1] ?? '';
  assert.match(limitOf('subscriptions'), new RegExp(`\\b${MAX_SUBSCRIPTIONS} per Organization`));
  assert.match(limitOf('delivering subscriptions'), new RegExp(`\\b${MAX_RECEIVING} per Organization`));
  assert.match(
    limitOf('subscriptions of one URL'),
    new RegExp(`\\b${MAX_RECEIVING_AT_URL} per Organization`),
  );
});

test('Node', async () => {
  const { isGenuine } = await load(snippet('js', 'timingSafeEqual'));
  assert.ok(isGenuine);
  assert.equal(isGenuine(BODY, SIGNATURE, SIGNING_KEY), true);
  assert.equal(isGenuine(OTHER_BODY, SIGNATURE, SIGNING_KEY), false);
  assert.equal(isGenuine(BODY, SIGNATURE, 'f'.repeat(64)), false);
  for (const forged of [...FORGED, undefined]) assert.equal(isGenuine(BODY, forged, SIGNING_KEY), false);
});

for (const library of ['standardwebhooks', 'svix'])
  test(`a library: ${library}`, async () => {
    const source = snippet('js', 'new Webhook').replace(
      "'standardwebhooks'",
      `'${import.meta.resolve(library)}'`,
    );
    const { verified } = await load(source);
    assert.ok(verified);
    assert.deepEqual(verified(BODY, HEADERS, SIGNING_KEY), JSON.parse(BODY.toString()));
    assert.throws(() => verified(OTHER_BODY, HEADERS, SIGNING_KEY));
    assert.throws(() => verified(BODY, HEADERS, 'f'.repeat(64)));
  });

test('Python', (t) => {
  const program = `${snippet('py', 'compare_digest')}
import json, sys
body, signatures, key = json.load(sys.stdin)
print(json.dumps([is_genuine(body.encode(), signature, key) for signature in signatures]))`;
  const input = JSON.stringify([BODY.toString(), [SIGNATURE, ...FORGED, null, 'ä'], SIGNING_KEY]);
  const run = spawnSync(PYTHON as string, ['-c', program], { input, encoding: 'utf8' });
  if (run.error) return t.skip('there is no python3 here');
  assert.deepEqual(JSON.parse(run.stdout), [true, false, false, false, false, false, false], run.stderr);
});

test('the shell', async (t) => {
  if (spawnSync(OPENSSL as string, ['version']).error) return t.skip('there is no openssl here');
  const ask = async (body: Buffer, signature: string) => {
    await writeFile(join(folder, 'body.json'), body);
    const env = { PATH: process.env.PATH, SIGNATURE: signature, SIGNING_KEY };
    const { stdout } = spawnSync('sh', ['-euc', snippet('sh', 'openssl')], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return stdout.trim();
  };
  assert.equal(await ask(BODY, SIGNATURE), 'genuine');
  assert.equal(await ask(OTHER_BODY, SIGNATURE), 'forged');
  for (const forged of FORGED) assert.equal(await ask(BODY, forged), 'forged');
});
