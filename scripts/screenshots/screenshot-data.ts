import assert from 'node:assert/strict';
import type { APIRequestContext } from 'playwright-core';
import type { TestEndpoint } from '../../testing/webhooks/test-endpoint.ts';

type Body = Record<string, unknown>;
type Item = Body & { guid: string };
export type Founder = Awaited<ReturnType<typeof founderOf>>;

/** Timeout for a subscription, file or delivery to reach its state. */
const PATIENCE_MS = 60_000;
const POLL_MS = 200;

/** Calls the API as the dashboard of the person whose session `request` carries. */
export async function founderOf(request: APIRequestContext) {
  const session = await request.get('/dashboard/session');
  const [organization] = ((await session.json()) as { organizations: Item[] }).organizations;
  assert.ok(organization);
  const scope = { organization_guid: organization.guid, environment: 'sandbox' };
  const token = await request.post('/dashboard/token', { data: scope });
  const { access_token: bearer } = (await token.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${bearer}` };

  async function get(path: string): Promise<Body> {
    const answer = await request.get(`/api${path}`, { headers });
    assert.equal(answer.status(), 200, await answer.text());
    return (await answer.json()) as Body;
  }
  const list = async (path: string) => (await get(path)).objects as Item[];

  return {
    organization: organization.guid,
    list,
    async create(path: string, data: Body): Promise<Item> {
      const answer = await request.post(`/api${path}`, { headers, data });
      assert.equal(answer.status(), 201, `${path}: ${await answer.text()}`);
      return (await answer.json()) as Item;
    },
    /** The first matching entry of a list, polled until it exists. */
    find: (path: string, fits: (item: Item) => boolean) =>
      eventually(`something in ${path}`, async () => (await list(path)).find(fits)),
    /** The charts are updated some seconds after the events. */
    charted: () =>
      eventually('all events in the charts', async () => {
        const { total } = await get('/subscription_events');
        const { totals } = await get('/delivery_statistics?range=1h');
        return (totals as { events: number }).events === total || undefined;
      }),
  };
}

async function eventually<Result>(what: string, look: () => Promise<Result | undefined>): Promise<Result> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

export type Made = { bank: string; customer: string; healthy: string; failing: string; event: string };

/** Two endpoints, one of which fails after activation, with an event for both. */
export async function makeData(
  founder: Founder,
  healthy: TestEndpoint,
  failing: TestEndpoint,
): Promise<Made> {
  const [bank] = await founder.list('/banks');
  assert.ok(bank);
  const own = { bank_guid: bank.guid };
  await founder.create('/bank_applications', { ...own, name: 'Payments backend' });
  await founder.create('/bank_applications', { ...own, name: 'Reports', ip_allowlist: ['198.35.26.0/24'] });

  const endpoints = {
    healthy: await subscribe(founder, 'Payments backend', healthy),
    failing: await subscribe(founder, 'Old ledger', failing),
  };
  failing.behave({ kind: 'answer', status: 503, body: 'The ledger is closed for maintenance' });

  const customer = await founder.create('/customers', { ...own, type: 'individual', name: 'Ada' });
  const ofCustomer = { ...own, customer_guid: customer.guid };
  await makeFiles(founder, customer.guid);
  const trade = await makeObjects(founder, ofCustomer);
  // The demo has a trade of its own.
  const told = await founder.find(
    '/subscription_events',
    (event) => event.event_type === 'trade.executed' && event.object_guid === trade,
  );
  const attempts = `/subscription_deliveries?subscription_event_guid=${told.guid}`;
  // Twice, so that several attempts are shown.
  await founder.find(attempts, ({ attempt_count: count }) => Number(count) >= 2);
  await founder.charted();
  return { bank: bank.guid, customer: customer.guid, ...endpoints, event: told.guid };
}

async function subscribe(founder: Founder, name: string, { url }: TestEndpoint): Promise<string> {
  const environment = 'sandbox';
  const { guid } = await founder.create('/subscriptions', { type: 'webhook', name, url, environment });
  await founder.find('/subscriptions', (found) => found.guid === guid && found.state === 'active');
  return guid;
}

async function makeFiles(founder: Founder, customer: string): Promise<void> {
  const pdf = Buffer.from('%PDF-1.7\n% a very short document\n%%EOF\n').toString('base64');
  const file = { customer_guid: customer, content_type: 'application/pdf', data: pdf };
  await founder.create('/files', { ...file, type: 'utility_bill', filename: 'electricity.pdf' });
  await founder.create('/files', { ...file, type: 'bank_statement', filename: 'statement-october.pdf' });
  // The content does not match the declared type.
  const mismatch = { type: 'passport', filename: 'passport.png', content_type: 'image/png' };
  await founder.create('/files', { ...file, ...mismatch });
  await founder.find('/files', ({ filename, state }) => filename === 'passport.png' && state === 'failed');
}

/** Returns the guid of the trade. */
async function makeObjects(founder: Founder, owner: Body): Promise<string> {
  const trade = { ...owner, side: 'buy', symbol: 'BTC-USD', amount: 250_000 };
  const { guid } = await founder.create('/trades', trade);
  const transfers = [
    { transfer_type: 'funding', amount: 125_000 },
    { transfer_type: 'book', amount: 4_200, simulate: 'holding' },
    { transfer_type: 'crypto', amount: 98_000, simulate: 'failed' },
    { transfer_type: 'instant_funding', amount: 20_000 },
  ];
  for (const transfer of transfers) {
    await founder.create('/transfers', { ...owner, asset: 'USD', ...transfer });
  }
  await founder.find('/transfers', ({ state }) => state === 'failed');
  await founder.find('/trades', (found) => found.guid === guid && found.state === 'completed');
  return guid;
}
