import type { EndpointHealth } from '../../api/types.ts';
import { formatRemaining } from '../time/format-time.ts';
import { useNow } from '../time/NowProvider.tsx';
import { waitingLabel } from './endpoint-labels.ts';

/** "1,203 waiting · next attempt in 4 min" */
export function WaitingSummary({ endpoint }: { endpoint: EndpointHealth }) {
  const now = useNow();
  const { waiting, next_attempt_at: next, health } = endpoint;
  if (waiting === 0) return 'none waiting';
  const isSent = health === 'healthy' || health === 'failing' || health === 'inactive';
  const attempt =
    next === undefined
      ? 'sending now'
      : Date.parse(next) <= now
        ? 'next attempt due'
        : `next attempt in ${formatRemaining(next, now)}`;
  return `${waitingLabel(endpoint)} waiting${isSent ? ` · ${attempt}` : ''}`;
}
