import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createSite, type Site } from '../testing/app/serve.ts';
import { TOUR_OPTIONS, takeTour } from '../testing/packages/tour.ts';

test('every command works and prints what is shown', { ...TOUR_OPTIONS, concurrency: true }, async (t) => {
  const site = await createSite(t);
  // A receiver that starts after the first retries, 14 seconds after its subscription, would wait ten minutes by default.
  const service = await site.serve({ PORTICO_RETRY_MAX_DELAY: '5s' });
  const shown = (name: string) => new RegExp(`${name} +(\\S+)`).exec(service.out())?.[1] ?? '';
  const [, organizationKeyText = ''] = service.out().split('  Organization key');
  const organizationKey = (name: string) =>
    new RegExp(`${name} +(\\S+)`).exec(organizationKeyText)?.[1] ?? '';
  const demo = { 'the client_id': shown('client_id'), 'the client_secret': shown('client_secret') };

  const quickStart = (heading: string, inputs: Record<string, string>) =>
    takeTour(site, 'docs/partners/quickstart.md', { heading, inputs, inClone: heading !== 'curl' });
  const loginWith = (key: (name: string) => string) =>
    `echo ${key('client_secret')} | npx portico login --url ${site.url} --client-id ${key('client_id')} --secret-stdin`;

  // First, because they list the Organizations and expect only the demo.
  await t.test('README.md', () => takeTour(site, 'README.md', { heading: 'First steps', inputs: demo }));
  await t.test('docs/partners/quickstart.md, SDK', () => quickStart('SDK', demo));
  await Promise.all([
    t.test('docs/tour.md', () => takeTour(site, 'docs/tour.md', { inputs: demo })),
    tryWithOwnKey(t, site, 'docs/partners/files.md'),
    tryWithOwnKey(t, site, 'docs/partners/objects.md'),
    tryWithOwnKey(t, site, 'docs/partners/trading.md'),
    tryWithOwnKey(t, site, 'docs/partners/repeated-requests.md'),
    tryWithOwnKey(t, site, 'docs/partners/sandbox-scenarios.md'),
    t.test('docs/partners/quickstart.md, curl', async () => quickStart('curl', await invite(site))),
    t.test('docs/partners/quickstart.md, command line', () =>
      quickStart('Command line', { 'npx portico login': loginWith(organizationKey) }),
    ),
  ]);
});

/** With the key of a new Organization, so that the pages do not see each other's objects. */
function tryWithOwnKey(t: TestContext, site: Site, page: string): Promise<void> {
  return t.test(page, async () => {
    const organization = await create(site, '/organizations', {
      name: page,
      features: ['webhooks', 'files'],
    });
    const bank = await create(site, `/organizations/${organization.guid}/banks`, {
      ...{ name: 'Bank', environment: 'sandbox' },
    });
    const key = await create(site, `/banks/${bank.guid}/applications`, { name: 'Key' });
    const inputs = { 'the client_id': String(key.client_id), 'the client_secret': String(key.client_secret) };
    await takeTour(site, page, { heading: 'Try it', inputs });
  });
}

async function invite(site: Site): Promise<Record<string, string>> {
  const organization = await create(site, '/organizations', { name: 'Partner' });
  const member = { email: 'ada@partner.example', role: 'founder' };
  const { invitation_link: link } = await create(site, `/organizations/${organization.guid}/members`, member);
  return {
    'https://auth.sandbox.example.com': site.url,
    'the invitation link': String(link),
    'the password you choose': 'correct horse battery staple',
    // The calls come from loopback, which no allowlist can name.
    '["your public IPv4 address"]': '[]',
    'the URL of your endpoint': 'http://127.0.0.1:4010/',
  };
}

async function create(site: Site, path: string, payload: object): Promise<Record<string, unknown>> {
  const { status, body } = await site.operate('POST', path, payload);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}
