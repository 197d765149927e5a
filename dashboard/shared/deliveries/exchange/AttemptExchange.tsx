import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Attempt, DetailedDelivery } from '../../../api/types.ts';
import { formatDuration, formatExactTime } from '../../time/format-time.ts';
import { RequestedBy } from '../RequestedBy.tsx';
import { CopyAsCurl } from './CopyAsCurl.tsx';
import { Fields } from './Fields.tsx';
import { MessageBody } from './MessageBody.tsx';

/** The request and the response of one attempt side by side; below each other where there is little space. */
export function AttemptExchange({ attempt, delivery }: { attempt: Attempt; delivery: DetailedDelivery }) {
  return (
    <SimpleGrid type="container" cols={{ base: 1, '640px': 2 }} spacing="lg" verticalSpacing="lg" mt="sm">
      <RequestSide attempt={attempt} delivery={delivery} />
      <ResponseSide attempt={attempt} />
    </SimpleGrid>
  );
}

function RequestSide({ attempt, delivery }: { attempt: Attempt; delivery: DetailedDelivery }) {
  const { url, address, headers, hidden = [], not_recorded: notRecorded = [] } = attempt.request;
  const unknown = notRecorded.filter((name) => name !== 'response_headers');
  return (
    <Stack gap="sm" miw={0}>
      <Title order={3} fz="sm">
        Request
      </Title>
      <Fields
        fields={{
          URL: url === undefined ? undefined : `POST ${url}${hidden.includes('url') ? '/…' : ''}`,
          'Resolved address': address,
          Time: formatExactTime(attempt.attempted_at),
          Sent: <RequestedBy requester={attempt.requested_by} />,
        }}
      />
      <Fields title="Headers" code fields={headers} />
      <Notes hidden={hidden} unknown={unknown} />
      <MessageBody text={delivery.request_body} label={`request body of attempt ${attempt.number}`} />
      <CopyAsCurl deliveryGuid={delivery.guid} />
    </Stack>
  );
}

function Notes({ hidden, unknown }: { hidden: readonly string[]; unknown: readonly string[] }) {
  return (
    <>
      {hidden.length > 0 ? (
        <Text size="xs" c="dimmed">
          {hidden.includes('url') ? 'You need the Key Admin role to view the path of the URL' : 'Hidden'}
          {hidden.length > 1 ? ` and ${hidden.filter((name) => name !== 'url').join(', ')}` : ''}.
        </Text>
      ) : null}
      {unknown.length > 0 ? (
        <Text size="xs" c="dimmed">
          Not recorded for a first attempt that succeeds: {unknown.join(', ')}.
        </Text>
      ) : null}
    </>
  );
}

function ResponseSide({ attempt }: { attempt: Attempt }) {
  const { response_status: status, response_headers: headers, response_excerpt: excerpt } = attempt;
  const isUnknown = attempt.request.not_recorded?.includes('response_headers');
  return (
    <Stack gap="sm" miw={0}>
      <Title order={3} fz="sm">
        Response
      </Title>
      <Fields
        fields={{
          Status: status ?? 'No response',
          Duration: formatDuration(attempt.duration_ms),
          Reason: attempt.reason,
        }}
      />
      {headers ? <Fields title="Headers" code fields={headers} /> : null}
      {isUnknown ? (
        <Text size="xs" c="dimmed">
          Response headers are recorded when an attempt fails or someone requests it.
        </Text>
      ) : null}
      {excerpt ? (
        <MessageBody text={excerpt} label={`response body of attempt ${attempt.number}`} />
      ) : status === undefined ? null : (
        <Text size="xs" c="dimmed">
          Empty body
        </Text>
      )}
    </Stack>
  );
}
