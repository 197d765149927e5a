import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import type { Passkey } from '../../api/types.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { AddPasskey } from './AddPasskey.tsx';
import { RemovePasskey } from './RemovePasskey.tsx';
import { PASSKEYS_KEY } from './use-refresh-passkeys.ts';

/** Limit of the server. */
const MAX_PASSKEYS = 10;

export function PasskeysPanel() {
  const [dialog, setDialog] = useState<'add' | { remove: Passkey }>();
  const close = () => setDialog(undefined);
  const { data, error, refetch } = useQuery({ queryKey: PASSKEYS_KEY, queryFn: accountApi.passkeys });
  const isFull = data !== undefined && data.objects.length >= MAX_PASSKEYS;
  return (
    <Panel title="Passkeys" hint="Log in with your fingerprint, face or security key">
      <Stack gap="sm">
        {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
        {!data && !error ? <Skeleton height={36} /> : null}
        {data?.objects.length === 0 ? (
          <Text size="sm" c="dimmed">
            No passkeys yet.
          </Text>
        ) : null}
        {data?.objects.map((passkey) => (
          <Group key={passkey.guid} justify="space-between" wrap="nowrap">
            <div>
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {passkey.name}
              </Text>
              <Text size="xs" c="dimmed" component="div">
                {passkey.last_used_at ? 'Last used ' : 'Added '}
                <RelativeTime at={passkey.last_used_at ?? passkey.created_at} />
              </Text>
            </div>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              onClick={() => setDialog({ remove: passkey })}
              aria-label={`Remove ${passkey.name}`}
            >
              Remove
            </Button>
          </Group>
        ))}
        {isFull ? (
          <Text size="sm" c="dimmed">
            {MAX_PASSKEYS} of {MAX_PASSKEYS} passkeys used. Remove one to add another.
          </Text>
        ) : (
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setDialog('add')}>
              Add passkey
            </Button>
          </Group>
        )}
      </Stack>
      {dialog === 'add' ? <AddPasskey onClose={close} /> : null}
      {typeof dialog === 'object' ? <RemovePasskey passkey={dialog.remove} onClose={close} /> : null}
    </Panel>
  );
}
