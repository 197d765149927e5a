import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SignedRequest } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { ErrorAlert } from '../../feedback/ErrorAlert.tsx';
import { CodeBlock } from '../../text/CodeBlock.tsx';
import { Icon } from '../../text/Icon.tsx';
import { curlCommandOf } from './curl-command.ts';

/** Signed at the moment of the click: endpoints reject a signature that is older than minutes. */
export function CopyAsCurl({ deliveryGuid }: { deliveryGuid: string }) {
  const { api, can } = useWorkspace();
  const [isCopied, setCopied] = useState(false);
  const copy = useMutation({
    mutationFn: async () => {
      const request = await api.get<SignedRequest>(`/subscription_deliveries/${deliveryGuid}/request`);
      const command = curlCommandOf(request);
      // Browsers may refuse the clipboard; then the command is shown for copying by hand.
      setCopied(
        await writeToClipboard(command).then(
          () => true,
          () => false,
        ),
      );
      return command;
    },
  });
  if (!can('subscriptions:read') || !can('subscription_events:execute')) return null;
  return (
    <Stack gap="xs" align="stretch">
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name={isCopied ? 'check' : 'copy'} size={14} />}
        loading={copy.isPending}
        onClick={() => copy.mutate()}
        style={{ alignSelf: 'flex-start' }}
      >
        Copy as curl
      </Button>
      {copy.error ? <ErrorAlert error={copy.error} /> : null}
      {copy.data ? (
        <>
          <Text size="xs" c="dimmed" role="status">
            {isCopied ? 'Copied. ' : null}
            Signed now, so that your endpoint accepts the timestamp. The body is the one of every attempt.
          </Text>
          <CodeBlock label="curl command" code={copy.data} />
        </>
      ) : null}
    </Stack>
  );
}

/** Rejects also where there is no clipboard: on pages without HTTPS, apart from localhost. */
async function writeToClipboard(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
