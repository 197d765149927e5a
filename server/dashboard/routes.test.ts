import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { createTestApp } from '../../testing/app/app.ts';
import { type DashboardFiles, readDashboardFiles } from './files.ts';
import { PAGES } from './pages.ts';

const SCRIPT = Buffer.from('export const answer = 42;\n');
const INDEX =
  '<meta property="csp-nonce" nonce="nonce-of-this-answer" /><script src="/assets/a-1.js"></script>';

const dashboard: DashboardFiles = {
  index: INDEX,
  files: new Map([
    [
      '/assets/a-1.js',
      {
        type: 'text/javascript; charset=utf-8',
        etag: '"one"',
        immutable: true,
        plain: SCRIPT,
        encoded: new Map([
          ['br', brotliCompressSync(SCRIPT)],
          ['gzip', gzipSync(SCRIPT)],
        ]),
      },
    ],
    [
      '/icon.svg',
      {
        type: 'image/svg+xml',
        etag: '"two"',
        immutable: false,
        plain: Buffer.from('<svg/>'),
        encoded: new Map(),
      },
    ],
    [
      '/guides/webhooks',
      {
        type: 'text/html; charset=utf-8',
        etag: '"three"',
        immutable: false,
        plain: Buffer.from('<h1>Webhooks</h1>'),
        encoded: new Map([['gzip', gzipSync('<h1>Webhooks</h1>')]]),
      },
    ],
  ]),
};

const app = await createTestApp({
  dashboard,
  environment: { PORTICO_UPLOAD_URL: 'https://upload.example.com' },
});

function policyOf(headers: Record<string, unknown>): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split('; ');
  return new Map(directives.map((text) => text.split(' ')).map(([name = '', ...sources]) => [name, sources]));
}

test('the list of pages has every page of the router', async () => {
  const router = await readFile(join(import.meta.dirname, '../../dashboard/app/router.tsx'), 'utf8');
  const paths = Array.from(router.matchAll(/^ {2}path: '([a-z-]+)/gm), ([, first]) => first);
  assert.deepEqual([...new Set(paths)].sort(), [...PAGES].sort());
});

test('the root and every page path return the dashboard, at any depth', async () => {
  for (const url of [
    '/',
    ...PAGES.flatMap((page) => [`/${page}`, `/${page}/deeper/still`, `/${page}?bank=1`]),
  ]) {
    const { statusCode, headers, body } = await app.server.inject(url);
    assert.deepEqual([url, statusCode, headers['content-type']], [url, 200, 'text/html; charset=utf-8']);
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(body, /csp-nonce/);
  }
});

test('a browser gets a page with status 404 at an unknown URL, programs get JSON', async () => {
  const open = (url: string, accept?: string, method: 'GET' | 'POST' = 'GET') =>
    app.server.inject({ url, method, headers: accept === undefined ? {} : { accept } });
  const page = await open('/nothing', 'text/html,application/xhtml+xml');
  assert.deepEqual([page.statusCode, page.headers['content-type']], [404, 'text/html; charset=utf-8']);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
  const programs = [
    await open('/nothing'),
    await open('/nothing', 'application/json'),
    await open('/nothing', 'text/html', 'POST'),
    await open('/api/nothing', 'text/html'),
    await open('/oauth/nothing', 'text/html'),
    await open('/assets/b-2.js', 'text/html'),
    await open('/.well-known/nothing', 'text/html'),
  ];
  for (const { headers } of programs)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
});

test('pages do not shadow other routes, and unknown paths stay 404 in JSON', async () => {
  const { statusCode } = await app.server.inject('/healthz');
  assert.equal(statusCode, 200);
  assert.equal((await app.server.inject('/openapi.json')).json().openapi, '3.1.0');
  assert.match((await app.server.inject('/docs/')).body, /<a href="\/">← Dashboard<\/a>/);
  for (const url of [
    '/api/files',
    '/api/keys',
    '/operator/organizations',
    '/dashboard/session',
    '/oauth',
    '/nothing',
  ])
    assert.match(String((await app.server.inject(url)).headers['content-type']), /^application\/json/, url);
  for (const url of ['/nothing', '/assets/b-2.js', '/assets/../package.json', '/overviews'])
    assert.equal((await app.server.inject(url)).statusCode, 404, url);
});

test('the policy allows scripts of this origin only, and inline styles by a nonce that is new each time', async () => {
  const nonces = new Set<string>();
  for (let count = 0; count < 3; count++) {
    const { headers, body } = await app.server.inject('/login');
    const policy = policyOf(headers);
    assert.deepEqual(policy.get('default-src'), ["'none'"]);
    assert.deepEqual(policy.get('script-src'), ["'self'"]);
    assert.deepEqual(policy.get('img-src'), ["'self'", 'blob:']);
    for (const name of ['frame-src', 'object-src', 'worker-src'])
      assert.equal(policy.get(name), undefined, `${name} is stricter by default`);
    assert.deepEqual(policy.get('connect-src'), ["'self'", 'https://upload.example.com']);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
      assert.deepEqual(policy.get(name), ["'none'"], name);
    const [, nonce = ''] = /nonce="([^"]+)"/.exec(body) ?? [];
    assert.deepEqual(policy.get('style-src'), ["'self'", `'nonce-${nonce}'`]);
    assert.equal(Buffer.from(nonce, 'base64').length, 16);
    nonces.add(nonce);
  }
  assert.equal(nonces.size, 3);
});

test('a file is sent in a precompressed encoding that the client accepts', async () => {
  const read = async (accepted: string) => {
    const answer = await app.server.inject({
      url: '/assets/a-1.js',
      headers: { 'accept-encoding': accepted },
    });
    assert.equal(answer.headers.vary, 'accept-encoding');
    assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8');
    return { encoding: answer.headers['content-encoding'], bytes: answer.rawPayload };
  };
  const brotli = await read('gzip, deflate, br, zstd');
  assert.deepEqual([brotli.encoding, brotliDecompressSync(brotli.bytes)], ['br', SCRIPT]);
  const gzipped = await read('gzip;q=0.5, br;q=0');
  assert.deepEqual([gzipped.encoding, gunzipSync(gzipped.bytes)], ['gzip', SCRIPT]);
  assert.deepEqual(await read('identity'), { encoding: undefined, bytes: SCRIPT });
});

test('files named by their content are immutable; others are revalidated', async () => {
  const script = await app.server.inject('/assets/a-1.js');
  assert.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable');
  const icon = await app.server.inject('/icon.svg');
  assert.deepEqual([icon.headers['cache-control'], icon.headers.etag], ['no-cache', '"two"']);
  const again = await app.server.inject({ url: '/icon.svg', headers: { 'if-none-match': '"two"' } });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
});

test('a guide is cached by its ETag and runs scripts of this origin only', async () => {
  const { statusCode, headers, body } = await app.server.inject('/guides/webhooks');
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8']);
  assert.deepEqual([headers.etag, headers['cache-control']], ['"three"', 'no-cache']);
  assert.equal(body, '<h1>Webhooks</h1>');
  const policy = policyOf(headers);
  assert.deepEqual(policy.get('default-src'), ["'none'"]);
  for (const name of ['script-src', 'style-src', 'img-src', 'connect-src'])
    assert.deepEqual(policy.get(name), ["'self'"], name);
  const again = await app.server.inject({ url: '/guides/webhooks', headers: { 'if-none-match': '"three"' } });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
  assert.equal((await app.server.inject('/guides/nothing')).statusCode, 404);
});

test('the files of a build are served, guides without a suffix and examples as text', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-build-'));
  after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'guides', 'receivers', 'go'), { recursive: true });
  const names = [
    'index.html',
    'manifest.json',
    'guides/index.html',
    'guides/files.html',
    'guides/files.html.gz',
  ];
  for (const name of [...names, 'guides/search.json', 'guides/receivers/go/receiver.go', 'icon.svg'])
    await writeFile(join(folder, name), name);
  const { files } = await readDashboardFiles(folder);
  const served = [...files].map(([path, { type }]) => `${path} ${type.split(';')[0]}`);
  assert.deepEqual(served.sort(), [
    '/guides text/html',
    '/guides/files text/html',
    '/guides/receivers/go/receiver.go text/plain',
    '/guides/search.json application/json',
    '/icon.svg image/svg+xml',
  ]);
  assert.equal(files.get('/guides/files')?.encoded.size, 1);
});

test('without a build the root redirects to the reference', async () => {
  const bare = await createTestApp();
  const { statusCode, headers } = await bare.server.inject('/');
  assert.deepEqual([statusCode, headers.location], [302, '/docs']);
  assert.equal((await bare.server.inject('/login')).statusCode, 404);
});
