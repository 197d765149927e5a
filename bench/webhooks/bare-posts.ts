import { request } from 'undici';

/** Child process of the benchmark: posts delivery requests as fast as undici can, and reports the time. */
export type BareRun = { url: string; posts: number };

const AT_ONCE = 64;
const BODY = JSON.stringify({
  guid: '0'.repeat(32),
  organization_guid: '0'.repeat(32),
  bank_guid: '0'.repeat(32),
  event_type: 'transfer.completed',
  object_guid: '0'.repeat(32),
  environment: 'sandbox',
});

const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Portico-Webhooks/0.1.0',
  'x-service-signature': '0'.repeat(64),
  'webhook-id': '0'.repeat(32),
  'webhook-timestamp': '1794744000',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
};

process.on('message', async ({ url, posts }: BareRun) => {
  const startedAt = process.hrtime.bigint();
  let left = posts;
  async function sender(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { body } = await request(url, { method: 'POST', headers: HEADERS, body: BODY });
      await body.text();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  process.send?.(Number(process.hrtime.bigint() - startedAt) / 1e9);
});
process.on('disconnect', () => process.exit());
