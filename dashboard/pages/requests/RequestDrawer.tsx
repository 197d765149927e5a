import { Drawer, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LoggedRequest } from '../../api/types.ts';
import type { Search } from '../../shared/filters/search.ts';
import { useReturnFocus } from '../../shared/forms/use-return-focus.ts';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { BreakableText } from '../../shared/text/BreakableText.tsx';
import { EnvironmentName } from '../../shared/text/EnvironmentName.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { GuideLink } from '../../shared/text/GuideLink.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { formatDuration, formatExactTime } from '../../shared/time/format-time.ts';
import { Caller } from './CallerName.tsx';
import { StatusBadge } from './StatusBadge.tsx';

/** One call with all its fields, and links to similar ones. */
export function RequestDrawer({ request, onClose }: { request: LoggedRequest; onClose: () => void }) {
  useReturnFocus();
  const { client_id: client, address, message_code: code, object_guid: object, path, method } = request;
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Request">
      <Stack>
        <Text ff="monospace" size="sm" fw={600}>
          {method} <BreakableText text={path} />
        </Text>
        <StatusBadge request={request} />
        {request.sample_rate > 1 ? (
          <Text size="sm" c="dimmed">
            This call stands for {request.sample_rate} similar ones: above 100 calls a second, only some are
            logged.
          </Text>
        ) : null}
        <LabeledValue label="Time">{formatExactTime(request.created_at)}</LabeledValue>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
          <LabeledValue label="Duration">{formatDuration(request.duration_ms)}</LabeledValue>
          <LabeledValue label="Environment">
            <EnvironmentName environment={request.environment} />
          </LabeledValue>
          <LabeledValue label="Address">{address ?? 'Unknown'}</LabeledValue>
          <LabeledValue label="Called by">
            <Caller request={request} />
          </LabeledValue>
        </SimpleGrid>
        <Id label="Request ID" value={request.request_id} />
        <Id label="Client ID" value={client} />
        <Id label="Member ID" value={request.member_guid} />
        <Id label="Bank ID" value={request.bank_guid} />
        <Id label="ID in the path" value={object} />
        <LabeledValue label="Related">
          <Stack gap={4} align="flex-start">
            {client ? (
              <Similar search={{ client_id: client }} onClick={onClose}>
                Requests of this key
              </Similar>
            ) : null}
            {address ? (
              <Similar search={{ address }} onClick={onClose}>
                Requests from this address
              </Similar>
            ) : null}
            <Similar search={{ path, method }} onClick={onClose}>
              Requests with this method and path
            </Similar>
            {code ? (
              <Similar search={{ message_code: code }} onClick={onClose}>
                Requests with this error code
              </Similar>
            ) : null}
            {code ? (
              <GuideLink guide="errors" size="sm">
                Error codes and their remedies
              </GuideLink>
            ) : null}
          </Stack>
        </LabeledValue>
      </Stack>
    </Drawer>
  );
}

/** Closes the drawer also when the address does not change. */
function Similar({
  search,
  onClick,
  children,
}: {
  search: Search;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <PageLink to="/requests" search={search} size="sm" onClick={onClick}>
      {children}
    </PageLink>
  );
}

function Id({ label, value }: { label: string; value: string | undefined }) {
  if (value === undefined) return null;
  return (
    <LabeledValue label={label}>
      <Guid full value={value} name={label} />
    </LabeledValue>
  );
}
