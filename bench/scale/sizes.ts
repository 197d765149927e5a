import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPERATOR_TOKEN, type Site, startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants } from '../shared/tenants.ts';
import { DAY_MS, seedHistory } from './seed.ts';

/**
 * The figures of docs/operators/scaling.md: bytes of a row with its indexes, and the time of an export and an import.
 * `node bench/scale/sizes.ts [deliveries]`
 */
const DELIVERIES = Number(process.argv[2] ?? 500_000);
const SPAN_MS = 20 * DAY_MS;
const PORTICO = join(import.meta.dirname, '..', '..', 'bin', 'portico.cjs');
const SETTINGS = {
  PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
  PORTICO_TRANSFER_KEY: 'transfer-key-of-the-benchmark-of-sizes',
};
const execute = promisify(execFile);

/** One delivery in twenty failed once. */
const SEED_ATTEMPTS = `
  insert into delivery_attempts (delivery_guid, number, attempted_at, duration_ms, outcome, response_status,
    response_excerpt, url, address, user_agent, response_headers)
  select guid, 1, created_at, 12, 'rejected', 503, 'upstream connect error', 'https://partner.example/webhooks',
    '192.0.2.17', 'Portico/1', '{"content-type": "text/plain", "server": "nginx"}'
  from deliveries where get_byte(uuid_send(guid), 15) < 13`;
const SEED_REQUESTS = `
  insert into request_log (guid, organization_guid, environment, bank_guid, token_type, client_id, method, path,
    object_guid, status, duration_ms, address, sample_rate)
  select uuidv7(make_interval(secs => -n / 20.0)), $1, 'sandbox', $2, 'bank', $2, 'GET', '/api/transfers/:guid', $2,
    200, 4, '192.0.2.17', 1
  from generate_series(1, $3::int) as n order by n desc`;
const SIZES = `
  select parent as name, sum(pg_relation_size(relid)) as heap, sum(pg_indexes_size(relid)) as indexes,
    (xpath('/row/c/text()', query_to_xml('select count(*) as c from ' || parent, false, true, '')))[1]::text::bigint as rows
  from unnest($1::text[]) as parent cross join lateral pg_partition_tree(parent::regclass)
  where isleaf group by 1 order by 1`;
const TABLES = ['events', 'deliveries', 'delivery_attempts', 'request_log'];

await using resources = new AsyncDisposableStack();
const stage = await openStage(resources);
const [old, fresh] = [await startSite(resources), await startSite(resources)];
const tenants = await createTenants(old, `${stage.hook}/`, { endpoints: 1 });
const [tenant] = tenants.tenants;
if (!tenant) throw new Error('no tenant');
await seedHistory({ progress: print }, old, tenants, { rows: DELIVERIES, spanMs: SPAN_MS });
await old.query(SEED_ATTEMPTS);
await old.query(SEED_REQUESTS, [tenant.organizationGuid, tenant.bankGuid, Math.floor(DELIVERIES / 5)]);
await printSizes(old);
await move(old, fresh, tenant.organizationGuid);

async function printSizes(site: Site): Promise<void> {
  const rows = await site.query<{ name: string; heap: number; indexes: number; rows: number }>(SIZES, [
    TABLES,
  ]);
  for (const { name, heap, indexes, rows: count } of rows) {
    const [perRow, inIndexes] = [heap, indexes].map((bytes) => Math.round(Number(bytes) / Number(count)));
    print(`${name}: ${count} rows, ${perRow} bytes each in the table and ${inIndexes} in indexes`);
  }
}

async function move(from: Site, to: Site, guid: string): Promise<void> {
  const file = join(from.folder, 'organization.portico');
  const command = (site: Site, ...args: string[]) =>
    timed(String(args[0]), async () => {
      const env = { ...process.env, ...SETTINGS, PORTICO_OPERATOR_URL: site.operatorUrl };
      const words = [PORTICO, 'operator', 'organizations', ...args];
      const { stdout, stderr } = await execute(process.execPath, words, { env });
      print(`${stdout}${stderr}`.trim());
    });
  await command(from, 'export', guid, '--file', file);
  await command(to, 'import', '--file', file);
  await command(from, 'remove', guid);
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await work();
  print(`${what}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
