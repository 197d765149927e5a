import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { type KeyDialogProps, useKeyApi } from './use-key-api.ts';

export function DeleteKey({ kind, application, onClose }: KeyDialogProps) {
  const keyApi = useKeyApi(kind);
  return (
    <ConfirmByName
      title="Delete key pair"
      name={application.name}
      action="Delete key pair"
      onClose={onClose}
      onConfirm={async () => {
        await keyApi.remove(application.client_id);
        notifySuccess(`${application.name} was deleted. Its tokens no longer work.`);
      }}
    >
      All tokens of this key stop working immediately, including customer tokens. This cannot be undone. If
      the key is still in use, rotate it instead.
    </ConfirmByName>
  );
}
