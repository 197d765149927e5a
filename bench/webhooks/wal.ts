import type { Context, Figure } from '../runner/benchmark.ts';
import type { FigureName } from '../runner/targets.ts';
import { median } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage, SINGLE_CALLS } from '../shared/stage.ts';
import { createTenants, MAX_ENDPOINTS_OF_EACH, type Tenants } from '../shared/tenants.ts';

const DELIVERIES = 40_000;
const ROUNDS = 3;
/** Checkpoints would remove the log before it is read. */
const POSTGRES = { wal_keep_size: '2GB' };

const MODES = [
  { name: 'wal batches', nodes: ['serve'], load: {} },
  { name: 'wal single', nodes: ['serve'], load: SINGLE_CALLS },
  { name: 'wal api + dispatch', nodes: ['api', 'dispatch'], load: {} },
] as const satisfies { name: FigureName; [rest: string]: unknown }[];

/** Without full pages; these are those logged in a run that begins with a checkpoint. */
type Bytes = { total: number; btree: number; heap: number; fullPages: number };

/**
 * Bytes of the write-ahead log for each delivery of events that go to five endpoints each, and of events that go to one
 * (`oneEndpoint`), where the event itself counts in full. A page is logged whole at its first change after a checkpoint, so that
 * part depends on the interval of checkpoints and is counted apart.
 */
export async function benchWal(context: Context): Promise<Figure[]> {
  const { resources, size, rounds, progress } = context;
  const stage = await openStage(resources);
  const deliveries = size(DELIVERIES);
  const figures: Figure[] = [];
  for (const { name, nodes, load } of MODES) {
    const own = resources.use(new AsyncDisposableStack());
    const site = await startSite(own, { nodes, postgres: POSTGRES });
    await site.query('create extension pg_walinspect');
    const one = await createTenants(site, `${stage.hook}/`);
    const five = await createTenants(site, `${stage.hook}/`, { endpointsOfEach: MAX_ENDPOINTS_OF_EACH });
    const run = (tenants: Tenants) => stage.deliveriesPerSecond(site, tenants, deliveries, load);
    progress(`${name}: warming up`);
    await run(five);
    const measured: Bytes[] = [];
    const count = rounds(ROUNDS);
    for (let round = 1; round <= count; round += 1) {
      const bytes = await bytesOf(site, deliveries, () => run(five));
      measured.push(bytes);
      const parts = Object.entries(bytes).map(([part, value]) => `${part} ${Math.round(value)}`);
      progress(`round ${round} of ${count}: ${parts.join(', ')} bytes`);
    }
    const of = (part: keyof Bytes) => median(measured.map((bytes) => bytes[part]));
    const { total: oneEndpoint } = await bytesOf(site, deliveries, () => run(one));
    progress(`to one endpoint each: ${Math.round(oneEndpoint)} bytes`);
    const details = { btree: of('btree'), heap: of('heap'), fullPages: of('fullPages'), oneEndpoint };
    figures.push({ name, value: of('total'), details });
    await own.disposeAsync();
  }
  return figures;
}

async function bytesOf(site: Site, deliveries: number, run: () => Promise<unknown>): Promise<Bytes> {
  await site.query('checkpoint');
  const position = async () => {
    const [row] = await site.query<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn');
    return row?.lsn;
  };
  const before = await position();
  await run();
  const [bytes] = await site.query<Record<keyof Bytes, number>>(
    `select ($2::pg_lsn - $1::pg_lsn - sum(fpi_size))::float8 as total,
       sum(record_size) filter (where "resource_manager/record_type" = 'Btree')::float8 as btree,
       sum(record_size) filter (where "resource_manager/record_type" like 'Heap%')::float8 as heap,
       sum(fpi_size)::float8 as "fullPages"
     from pg_get_wal_stats($1, $2)`,
    [before, await position()],
  );
  const each = (part: keyof Bytes) => (bytes?.[part] ?? Number.NaN) / deliveries;
  return { total: each('total'), btree: each('btree'), heap: each('heap'), fullPages: each('fullPages') };
}
