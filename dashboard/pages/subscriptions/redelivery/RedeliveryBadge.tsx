import type { Recovery } from '../../../api/types.ts';
import { StateBadge } from '../../../shared/text/StateBadge.tsx';
import { outcomeOf } from './kinds.ts';

export function RedeliveryBadge({ redelivery }: { redelivery: Recovery }) {
  const { state, label } = outcomeOf(redelivery);
  return <StateBadge state={state} label={label} />;
}
