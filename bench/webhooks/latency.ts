import type { Context, Figure } from '../runner/benchmark.ts';
import { type Times, timeArrivals } from '../shared/arrival-times.ts';
import { startScript } from '../shared/children.ts';
import { medianOf } from '../shared/rounds.ts';
import { startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants } from '../shared/tenants.ts';

const RATES = [200, 500, 2_000] as const;
const SECONDS = 5;
const ROUNDS = 5;

/** The time from the call to the arrival, compared with a bare route that posts each event on. */
export async function benchLatency(context: Context): Promise<Figure[]> {
  const { resources, rounds, progress } = context;
  const stage = await openStage(resources);
  const endpoint = `${stage.hook}/timed`;
  const { ready: bareUrl } = await startScript<string>(resources, 'shared/bare-relay.ts', endpoint);
  const site = await startSite(resources);
  const tenants = await createTenants(site, endpoint, { endpoints: 1 });
  const reference = (perSecond: number) =>
    timeArrivals(stage, [`${bareUrl}/events`], tenants, { perSecond, seconds: SECONDS });
  const own = (perSecond: number) =>
    timeArrivals(stage, site.eventUrls, tenants, { perSecond, seconds: SECONDS });
  progress('warming up');
  await reference(RATES[1]);
  await own(RATES[1]);

  const figures: Figure[] = [];
  for (const perSecond of RATES) {
    const measured: { own: Times; reference: Times }[] = [];
    const count = rounds(ROUNDS);
    for (let round = 1; round <= count; round += 1) {
      const times = { reference: await reference(perSecond), own: await own(perSecond) };
      measured.push(times);
      const figure = ({ p50, p99 }: Times) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
      progress(
        `${perSecond}/s, round ${round} of ${count}: p50 / p99 portico ${figure(times.own)}, bare ${figure(times.reference)}`,
      );
    }
    for (const share of ['p50', 'p99'] as const) {
      const { ratio, ...details } = medianOf(
        measured.map((times) => ({
          ratio: times.own[share] / times.reference[share],
          own: times.own[share],
          reference: times.reference[share],
        })),
      );
      figures.push({ name: `latency ${perSecond}/s ${share}`, value: ratio, details });
    }
  }
  return figures;
}
