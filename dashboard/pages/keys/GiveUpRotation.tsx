import type { Application } from '../../api/types.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { type KeyDialogProps, useKeyApi } from './use-key-api.ts';

/** Deletes the new key pair of a rotation in progress. */
export function GiveUpRotation({
  kind,
  application,
  replacement,
  onClose,
}: KeyDialogProps & { replacement: Application }) {
  const keyApi = useKeyApi(kind);
  const { name, client_id: clientId, last_used_ip: lastUsedIp } = replacement;
  return (
    <ConfirmByName
      title="Give up rotation"
      name={name}
      action="Delete new key pair"
      onClose={onClose}
      onConfirm={async () => {
        await keyApi.remove(clientId);
        notifySuccess(`Rotation given up. ${application.name} keeps its key pair.`);
      }}
    >
      The new key pair is deleted and its tokens stop working immediately.
      {lastUsedIp ? ` It was last used from ${lastUsedIp}.` : ' It has not been used yet.'} The old key pair
      keeps working. This cannot be undone.
    </ConfirmByName>
  );
}
