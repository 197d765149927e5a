import type { EndpointHealth } from '../../api/types.ts';
import { StateBadge } from '../text/StateBadge.tsx';

/** Shown beside the state of the subscription, because they do not follow from it. */
const BESIDE_STATE: readonly EndpointHealth['health'][] = ['failing', 'paused', 'disabled'];

export function HealthBadge({ state, health }: Pick<EndpointHealth, 'state' | 'health'>) {
  if (health === 'paused' && state !== 'deleting') return <StateBadge state={health} label="Paused" />;
  const label = state === 'storing' ? 'Waiting for first 2xx' : state;
  if (!BESIDE_STATE.includes(health)) return <StateBadge state={state} label={label} />;
  return <StateBadge state={health} label={`${label} · ${health}`} />;
}
