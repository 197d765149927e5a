import type { CreatedApplication } from '../../api/types.ts';
import { OneTimeSecret } from '../../shared/secrets/OneTimeSecret.tsx';

export function KeySecret({
  created,
  onStored,
  doneLabel,
}: {
  created: CreatedApplication;
  onStored: () => void;
  doneLabel?: string;
}) {
  return (
    <OneTimeSecret
      warning="Only a hash of the secret is stored. If you lose the secret, generate a new key pair."
      values={[
        { name: 'client_id', value: created.client_id },
        { name: 'client_secret', value: created.client_secret },
      ]}
      filename={`portico-key-${created.client_id}.json`}
      onStored={onStored}
      {...(doneLabel === undefined ? {} : { doneLabel })}
    />
  );
}
