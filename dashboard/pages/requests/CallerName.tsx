import { Stack, Text } from '@mantine/core';
import type { LoggedRequest } from '../../api/types.ts';
import { Guid } from '../../shared/text/Guid.tsx';

const KINDS: Record<string, string> = {
  organization: 'Organization key',
  bank: 'Bank key',
  customer: 'Customer token of',
  user: 'Member',
};

/** The key or the person; its id if the name is not known any more. `compact` leaves out what it is. */
export function CallerName({ request, compact = false }: { request: LoggedRequest; compact?: boolean }) {
  const { token_type: type, client_id: client, member_guid: member } = request;
  const name = request.application_name ?? request.member_email;
  const id = client ?? member;
  return (
    <Stack gap={0}>
      {compact ? null : (
        <Text size="xs" c="dimmed">
          {type === undefined ? 'Key' : KINDS[type]}
        </Text>
      )}
      {name === undefined && id !== undefined ? (
        <Guid value={id} name={client === undefined ? 'member ID' : 'client ID'} />
      ) : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
      )}
    </Stack>
  );
}
