import { request } from 'undici';
import { DELIVERY_HEADERS } from './delivery-headers.ts';

/** Child process of the benchmarks: posts delivery requests as fast as undici can, and returns the seconds. */
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

process.on('message', async ({ url, posts }: BareRun) => {
  const startedAt = process.hrtime.bigint();
  let left = posts;
  async function sender(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { body } = await request(url, { method: 'POST', headers: DELIVERY_HEADERS, body: BODY });
      await body.text();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  process.send?.(Number(process.hrtime.bigint() - startedAt) / 1e9);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
