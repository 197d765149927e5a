import type { Context, Figure } from '../runner/benchmark.ts';
import type { FigureName } from '../runner/targets.ts';
import { median } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage, SINGLE_CALLS, type Stage } from '../shared/stage.ts';
import { createTenants, type Tenants } from '../shared/tenants.ts';

const DELIVERIES = 40_000;
const ROUNDS = 3;

const MODES = [
  { name: 'wal batches', nodes: ['serve'], load: {} },
  { name: 'wal single', nodes: ['serve'], load: SINGLE_CALLS },
  { name: 'wal api + dispatch', nodes: ['api', 'dispatch'], load: {} },
] as const satisfies { name: FigureName; [rest: string]: unknown }[];

type Run = { site: Site; tenants: Tenants; load: (typeof MODES)[number]['load'] };

/**
 * Bytes of the write-ahead log for each delivery. A page is logged whole after its first change since a checkpoint,
 * which depends on the interval of checkpoints, so that part is measured apart.
 */
export async function benchWal(context: Context): Promise<Figure[]> {
  const { resources, size, rounds, progress } = context;
  const stage = await openStage(resources);
  const deliveries = size(DELIVERIES);
  const figures: Figure[] = [];
  for (const { name, nodes, load } of MODES) {
    const own = resources.use(new AsyncDisposableStack());
    const measure = async (fullPageWrites: 'on' | 'off', count: number) => {
      const postgres = { full_page_writes: fullPageWrites };
      const site = await startSite(own, { nodes, postgres });
      const tenants = await createTenants(site, `${stage.hook}/`);
      const run = { site, tenants, load };
      await bytesPerDelivery(stage, run, deliveries);
      const bytes: number[] = [];
      for (let n = 0; n < count; n += 1) bytes.push(await bytesPerDelivery(stage, run, deliveries));
      return median(bytes);
    };
    const bytes = await measure('off', rounds(ROUNDS));
    const withPages = await measure('on', 1);
    const fullPages = Math.max(0, withPages - bytes);
    progress(`${name}: ${Math.round(bytes)} bytes, ${Math.round(fullPages)} more after a checkpoint`);
    figures.push({ name, value: bytes, details: { fullPages } });
    await own.disposeAsync();
  }
  return figures;
}

async function bytesPerDelivery(
  stage: Stage,
  { site, tenants, load }: Run,
  deliveries: number,
): Promise<number> {
  await site.query('checkpoint');
  const position = async () =>
    Number(
      (await site.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`))[0]?.bytes,
    );
  const before = await position();
  await stage.deliveriesPerSecond(site, tenants, deliveries, load);
  return ((await position()) - before) / deliveries;
}
