import type { Subscription } from '../../../api/types.ts';
import { ReplacementBadge } from '../../../shared/secrets/ReplacementBadge.tsx';
import { useRoll } from './use-roll.ts';

export function RollBadge({ subscription }: { subscription: Subscription }) {
  const roll = useRoll(subscription);
  if (!roll) return null;
  const { old, replacement } = roll;
  const isNew = replacement.guid === subscription.guid;
  return (
    <ReplacementBadge
      label={isNew ? `replaces ${old.name}` : `being replaced by ${replacement.name}`}
      begun={{ action: 'subscription.create', objectId: replacement.guid, at: replacement.created_at }}
    />
  );
}
