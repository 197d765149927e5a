import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../testing/app/app.ts';
import { queriesOfOwner } from '../../testing/database/database.ts';
import { createQueryCost } from '../../testing/database/query-cost.ts';
import { createGuids } from '../infrastructure/runtime/guid.ts';
import { insertRequests, type LoggedRequest, type RequestFilters, selectRequests } from './store.ts';

const app = await createTestApp();
const guids = createGuids({ clock: app.clock, randomBytes });
const [many, few, bankGuid, clientId] = [guids.next(), guids.next(), guids.next(), guids.next()];
const PAGE = { number: 0, perPage: 20, offset: 0, after: undefined };
const ROWS = 20_000;

function row(organizationGuid: string): LoggedRequest {
  return {
    guid: guids.next(),
    organization_guid: organizationGuid,
    environment: 'production',
    bank_guid: null,
    token_type: 'organization',
    client_id: clientId,
    member_guid: null,
    method: 'GET',
    path: '/api/subscription_deliveries/{guid}',
    object_guid: guids.next(),
    status: 200,
    message_code: null,
    duration_ms: 4,
    address: '198.51.100.7',
    sample_rate: 1,
  };
}

test('a page reads few blocks with every filter, for a log of any size', async () => {
  await insertRequests(app.database.queries, [row(few)]);
  for (let written = 0; written < ROWS; written += 1_000)
    await insertRequests(
      app.database.queries,
      Array.from({ length: 1_000 }, () => row(many)),
    );
  await sql`analyze request_log`.execute(queriesOfOwner(app.testDatabase));
  const cost = createQueryCost(app.testDatabase);
  const FILTERS: RequestFilters[] = [
    { requestId: [guids.next()] },
    { messageCode: ['not_found'] },
    { clientId: [guids.next()] },
    { address: ['192.0.2.1'] },
    { path: ['/api/banks'] },
    { status: [400, 401, 403, 404, 409, 422, 429] },
    { method: ['POST', 'DELETE'] },
    { createdAtGte: new Date(app.clock.now().getTime() + 1_000) },
  ];
  const environments = ['production', 'both'] as const;
  for (const organizationGuid of [many, few])
    for (const filters of FILTERS) {
      const visible = { organizationGuid, environments, bankGuid: undefined };
      const blocks = await cost.blocksOf((queries) => selectRequests(queries, visible, PAGE, filters));
      assert.ok(blocks <= 150, `${blocks} blocks for ${JSON.stringify(filters)}`);
    }
  for (const visible of [
    { organizationGuid: few, environments, bankGuid: undefined },
    { organizationGuid: many, environments, bankGuid: [bankGuid] },
    { organizationGuid: many, environments: ['sandbox'] as const, bankGuid: undefined },
  ]) {
    const blocks = await cost.blocksOf((queries) => selectRequests(queries, visible, PAGE, {}));
    assert.ok(blocks <= 60, `${blocks} blocks for ${JSON.stringify(visible)}`);
  }
  await cost.close();
});

test('a row takes the space that the documentation of operators says', async () => {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(inhrelid))::bigint / ${ROWS} as bytes
    from pg_inherits where inhparent = 'request_log'::regclass`.execute(app.database.queries);
  assert.ok(Number(rows[0]?.bytes) < 700, `${rows[0]?.bytes} bytes`);
});
