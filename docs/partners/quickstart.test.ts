import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Site } from '../../testing/serve.ts';
import { TOUR_OPTIONS, takeTour } from '../../testing/tour.ts';

async function invite(site: Site): Promise<Record<string, string>> {
  const { body: organization } = await site.operate('POST', '/organizations', { name: 'Partner' });
  const member = { email: 'ada@partner.example', role: 'founder' };
  const { status, body } = await site.operate('POST', `/organizations/${organization.guid}/members`, member);
  assert.equal(status, 201, JSON.stringify(body));
  return {
    'https://auth.sandbox.example.com': site.url,
    'the invitation link': String(body.invitation_link),
    'the password you choose': 'correct horse battery staple',
    // The calls come from loopback, which no allowlist can name.
    '["your public IPv4 address"]': '[]',
    'the URL of your endpoint': 'http://127.0.0.1:4010/',
  };
}

test('docs/partners/quickstart.md: every command works and prints what is shown', TOUR_OPTIONS, (t) =>
  takeTour(t, 'docs/partners/quickstart.md', { prepare: invite }),
);
