import type { EndpointHealth, EndpointTimeline } from '../../api/types.ts';

/** The beginning and end of an outage, which may continue. */
export type Outage = { from: string; to?: string };

const FAILING: readonly EndpointTimeline['periods'][number]['health'][] = ['failing', 'partly_failing'];

/** The outages of a timeline; the first may have begun before it. */
export function outagesOf(
  { periods }: EndpointTimeline,
  { failing_since: since }: Partial<EndpointHealth>,
): Outage[] {
  const outages: Outage[] = since === undefined ? [] : [{ from: since }];
  for (const { from, to, health } of periods) {
    const last = outages.at(-1);
    if (!FAILING.includes(health)) continue;
    if (last?.to === from) last.to = to;
    else outages.push({ from, to });
  }
  return outages;
}

/**
 * The deliveries that can have an attempt in a step of a chart: those created in it and, in an outage, those created since
 * its beginning, which are retried.
 */
export function createdFor(step: { from: Date; until: Date }, outages: readonly Outage[]) {
  const [begin, end] = [step.from.getTime(), step.until.getTime()];
  const starts = outages
    .filter(({ from, to }) => Date.parse(from) < end && (to === undefined || Date.parse(to) > begin))
    .map(({ from }) => Date.parse(from));
  return { from: new Date(Math.min(begin, ...starts)).toISOString(), until: step.until.toISOString() };
}
