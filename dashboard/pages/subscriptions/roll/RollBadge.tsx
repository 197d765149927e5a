import type { Subscription } from '../../../api/types.ts';
import { ReplacementBadge } from '../../../shared/secrets/ReplacementBadge.tsx';
import { useRoll } from './use-roll.ts';

export function RollBadge({ subscription }: { subscription: Subscription }) {
  const roll = useRoll(subscription);
  if (!roll) return null;
  const { old, replacement } = roll;
  if (subscription.guid === old.guid)
    return <ReplacementBadge label={`being replaced by ${replacement.name}`} />;
  return (
    <ReplacementBadge
      label={`replaces ${old.name}`}
      begun={{ action: 'subscription.create', objectId: replacement.guid, at: replacement.created_at }}
    />
  );
}
