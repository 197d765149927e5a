import type { CreatedSubscription } from '../../api/types.ts';
import { OneTimeSecret } from '../../shared/secrets/OneTimeSecret.tsx';

export function SigningKeySecret({
  created,
  onStored,
  doneLabel,
}: {
  created: CreatedSubscription;
  onStored: () => void;
  doneLabel?: string;
}) {
  return (
    <OneTimeSecret
      warning="Your endpoint verifies each request with this key: X-Service-Signature is the HMAC-SHA-256 of the raw body under these 64 characters. If it is lost, roll the key."
      values={[{ name: 'signing_key', value: created.signing_key }]}
      filename={`portico-signing-key-${created.guid}.json`}
      onStored={onStored}
      {...(doneLabel === undefined ? {} : { doneLabel })}
    />
  );
}
