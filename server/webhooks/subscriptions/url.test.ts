import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createSubscription, founderOf } from '../../../testing/webhooks/subscriptions.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { checkUrl } from './url.ts';

/** Validation of endpoint URLs (contract, section 7). */
const app = await createTestApp();
const founder = founderOf(app, await createTenant(app));
const create = (url: unknown, environment = 'sandbox') =>
  founder('POST', '', { type: 'webhook', name: 'Hook', url, environment });
const ofLength = (length: number) => `https://partner.example/${'a'.repeat(length - 24)}`;

const REFUSED: [why: RegExp, ...urls: unknown[]][] = [
  [
    /credentials/,
    'https://user@partner.example/',
    'https://user:pass@partner.example/',
    'https://@p.example',
  ],
  [/credentials/, 'https://:@partner.example', 'http://a@b@c.example'],
  [/fragment/, 'https://partner.example/#top', 'https://partner.example/#', 'https://partner.example?a#b'],
  [
    /absolute/,
    'file:///etc/passwd',
    'ftp://partner.example/',
    'javascript:alert(1)',
    'wss://partner.example',
  ],
  [/absolute/, '/hook', 'partner.example/hook', '//partner.example/hook', 'https:partner.example', 'x'],
  [/absolute/, 'https:/partner.example', 'httpss://partner.example', 'data:text/plain,x'],
  [/host/, 'https://', 'http:///path', 'https://?x', 'https://:443/'],
  [/spaces/, ' https://partner.example', 'https://partner.example ', 'https://partner .example', ' '],
  [/spaces/, 'https://partner.example/\na', 'https://partner.example/\t', 'https://part\u200bner.example/'],
  [
    /spaces/,
    'https://partner.example/\u001b[2J',
    'https://partner.example/\u202egpj.exe',
    'https://p\u00a0/',
  ],
  [/backslash/, 'https:\\\\partner.example', 'https://good.example\\@evil.example/'],
  [
    /valid/,
    'https://[::1/',
    'https://partner.example:99999/',
    'https://%zz/',
    'https://a..b:x/',
    'http://1.2.3.4.5/',
  ],
  [/empty/, ''],
  [/1024 characters/, ofLength(1_025)],
  [/a string/, 7, true, ['https://partner.example'], {}],
];

for (const [why, ...urls] of REFUSED)
  for (const url of urls)
    test(`refused with a reason: ${JSON.stringify(url).slice(0, 60)}`, async () => {
      for (const environment of ['sandbox', 'production'])
        assertError(
          await create(url, environment),
          400,
          'invalid_parameter',
          new RegExp(`^url .*${why.source}`),
        );
    });

test('accepted and stored unchanged', async () => {
  for (const url of [
    ofLength(1_024),
    'https://partner.example',
    'HTTPS://Partner.Example:443/a/../b?q=%2f&r=a@b:c',
    'https://bücher.example/päth',
    'https://93.184.216.34:8443/',
    'https://[2606:2800:220:1::1]/x',
  ])
    for (const environment of ['sandbox', 'production'] as const) {
      const created = await createSubscription(app, await createTenant(app), { url, environment });
      assert.equal(created.url, url);
    }
});

test('the host is not resolved: a private address is refused at connection time', async () => {
  for (const url of ['https://localhost/', 'https://10.0.0.1/', 'https://no.such.invalid/'])
    assert.equal((await createSubscription(app, await createTenant(app), { url })).url, url);
});

test('http is for sandbox: in production 422 invalid_https_url', async () => {
  for (const url of ['http://partner.example/', 'HTTP://partner.example', 'http://localhost:3000/hook']) {
    assertError(await create(url, 'production'), 422, 'invalid_https_url', /https/);
    assert.equal((await createSubscription(app, await createTenant(app), { url })).url, url);
  }
});

test('every accepted url can be fetched and keeps its host', () => {
  for (const url of ['https://a.example/', 'http://b.example:81?x', 'https://c.example./y']) {
    assert.ok(!isFailure(checkUrl(url, 'sandbox')));
    assert.equal(new Request(url).url, new URL(url).href);
  }
});
