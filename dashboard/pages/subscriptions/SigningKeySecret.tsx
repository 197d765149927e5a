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
      warning="Verify every request with this key: the X-Service-Signature header is the HMAC-SHA-256 of the raw body, with these 64 characters as the key. If you lose it, roll the signing key."
      values={[{ name: 'signing_key', value: created.signing_key }]}
      filename={`portico-signing-key-${created.guid}.json`}
      onStored={onStored}
      {...(doneLabel === undefined ? {} : { doneLabel })}
    />
  );
}
