import { Drawer, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InboxRequest } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Fields } from '../../shared/deliveries/exchange/Fields.tsx';
import { MessageBody } from '../../shared/deliveries/exchange/MessageBody.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { useReturnFocus } from '../../shared/forms/use-return-focus.ts';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { formatExactTime } from '../../shared/time/format-time.ts';
import { CheckSignatureButton } from '../../shared/verification/Verification.tsx';
import { answerLabel } from './answers.ts';
import { SignatureBadge } from './SignatureBadge.tsx';

/** A request as it arrived. */
export function InboxRequestDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
  useReturnFocus();
  const { api } = useWorkspace();
  const [checking, setChecking] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/inbox_requests', guid],
    queryFn: ({ signal }) => api.get<InboxRequest>(`/inbox_requests/${guid}`, { signal }),
  });
  return (
    // Escape closes only the dialog above.
    <Drawer opened onClose={onClose} closeOnEscape={!checking} position="right" size="lg" title="Request">
      {data ? (
        <Request request={data} onCheck={setChecking} />
      ) : error ? (
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      ) : (
        <PageLoading />
      )}
    </Drawer>
  );
}

function Request({ request, onCheck }: { request: InboxRequest; onCheck: (opened: boolean) => void }) {
  const { event_guid: event, signature, headers, body, body_encoding: encoding } = request;
  return (
    <Stack>
      <Group justify="space-between">
        <SignatureBadge signature={signature} />
        {encoding === 'base64' ? null : (
          <CheckSignatureButton
            onToggle={onCheck}
            initial={{ headers: headers.map(({ name, value }) => `${name}: ${value}`).join('\n'), body }}
          />
        )}
      </Group>
      {signature === 'invalid' ? (
        <Text size="sm" c="dimmed">
          The signature does not match the body with the signing key of any subscription that sends to this
          inbox.
        </Text>
      ) : null}
      <Fields
        fields={{
          Received: formatExactTime(request.received_at),
          Event: event ? (
            <PageLink to="/events/$guid" params={{ guid: event }} size="sm">
              {request.event_type ?? event}
            </PageLink>
          ) : undefined,
          Address: request.address ?? undefined,
          Answer: answerLabel(request.answer),
        }}
      />
      <Fields code title="Headers" fields={headers.map(({ name, value }) => [name, value] as const)} />
      {encoding === 'base64' ? (
        <Text size="sm" c="dimmed">
          The body is not UTF-8; this is its base64.
        </Text>
      ) : null}
      <MessageBody raw text={body} label="request body" />
    </Stack>
  );
}
