import { Group, Stack, Text } from '@mantine/core';
import type { CreatedSubscription } from '../../api/types.ts';
import { OneTimeSecret } from '../../shared/secrets/OneTimeSecret.tsx';
import { CheckSignatureButton, VerificationCode } from '../../shared/verification/Verification.tsx';

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
      warning="Verify every request with this key, for example with the code below. Use its 64 characters as text; do not decode them. If you lose it, roll the signing key."
      values={[{ name: 'signing_key', value: created.signing_key }]}
      filename={`portico-signing-key-${created.guid}.json`}
      onStored={onStored}
      {...(doneLabel === undefined ? {} : { doneLabel })}
    >
      <Stack gap={4}>
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            Verification code
          </Text>
          <CheckSignatureButton initial={{ signingKey: created.signing_key }} />
        </Group>
        <VerificationCode signingKey={created.signing_key} />
      </Stack>
    </OneTimeSecret>
  );
}
