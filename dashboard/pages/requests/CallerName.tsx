import { Stack, Text } from '@mantine/core';
import type { LoggedRequest } from '../../api/types.ts';
import { CellText } from '../../shared/text/CellText.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';

const KINDS: Record<string, string> = {
  organization: 'Organization key',
  bank: 'Bank key',
  customer: 'Customer token of',
  user: 'Member',
};

/** The key or the person; its id if the name is not known any more. */
export function CallerName({ request }: { request: LoggedRequest }) {
  const { client_id: client, member_guid: member } = request;
  const name = request.application_name ?? request.member_email;
  const id = client ?? member;
  return name === undefined && id !== undefined ? (
    <Guid value={id} name={client === undefined ? 'member ID' : 'client ID'} />
  ) : (
    <CellText title={name}>{name}</CellText>
  );
}

/** With what the caller is, and a link to its page. */
export function Caller({ request }: { request: LoggedRequest }) {
  const { token_type: type, client_id: client, member_guid: member } = request;
  const isOfBank = type === 'bank';
  return (
    <Stack gap={0} align="flex-start">
      <Text size="xs" c="dimmed">
        {type === undefined ? 'Key' : KINDS[type]}
      </Text>
      <CallerName request={request} />
      {client && (isOfBank || type === 'organization') ? (
        <PageLink
          to="/keys"
          search={{ client_id: client, ...(isOfBank ? {} : { kind: 'organization' }) }}
          size="sm"
        >
          View key
        </PageLink>
      ) : null}
      {member ? (
        <PageLink to="/team" search={{ guid: member }} size="sm">
          View member
        </PageLink>
      ) : null}
    </Stack>
  );
}
