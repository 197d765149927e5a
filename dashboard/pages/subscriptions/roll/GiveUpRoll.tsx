import { notifySuccess } from '../../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../../shared/forms/ConfirmByName.tsx';
import { useSubscriptionApi } from '../use-subscription-api.ts';
import type { Roll } from './use-roll.ts';

export function GiveUpRoll({ roll: { old, replacement }, onClose }: { roll: Roll; onClose: () => void }) {
  const { remove } = useSubscriptionApi();
  return (
    <ConfirmByName
      title="Give up signing-key roll"
      name={replacement.name}
      action="Delete new subscription in 24 hours"
      onClose={onClose}
      onConfirm={async () => {
        await remove(replacement.guid);
        notifySuccess(`Roll given up. ${old.name} keeps its signing key.`);
      }}
    >
      The new subscription is deleted in 24 hours, and its signing key with it. The old subscription and its
      signing key stay as they are. This cannot be undone.
    </ConfirmByName>
  );
}
