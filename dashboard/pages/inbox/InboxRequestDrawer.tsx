import { Drawer, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { InboxRequest } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Fields } from '../../shared/deliveries/exchange/Fields.tsx';
import { MessageBody } from '../../shared/deliveries/exchange/MessageBody.tsx';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { formatExactTime } from '../../shared/time/format-time.ts';
import { SignatureBadge } from './SignatureBadge.tsx';

/** A request as it arrived. */
export function InboxRequestDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/inbox_requests', guid],
    queryFn: ({ signal }) => api.get<InboxRequest>(`/inbox_requests/${guid}`, { signal }),
  });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Request">
      {data ? (
        <Request request={data} />
      ) : error ? (
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      ) : (
        <PageLoading />
      )}
    </Drawer>
  );
}

function Request({ request }: { request: InboxRequest }) {
  const { event_guid: event, signature, headers, body, body_encoding: encoding } = request;
  return (
    <Stack>
      <SignatureBadge signature={signature} />
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
        }}
      />
      <Fields
        code
        title="Headers"
        fields={Object.fromEntries(headers.map(({ name, value }) => [name, value]))}
      />
      {encoding === 'base64' ? (
        <Text size="sm" c="dimmed">
          The body is not UTF-8; this is its base64.
        </Text>
      ) : null}
      <MessageBody text={body} label="request body" />
    </Stack>
  );
}
