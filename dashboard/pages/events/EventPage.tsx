import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { bodyOf } from '../../../server/deliveries/delivery.ts';
import type { Event } from '../../api/types.ts';
import { CodeBlock } from '../../shared/CodeBlock.tsx';
import { DeliveryTable } from '../../shared/DeliveryTable.tsx';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Fact } from '../../shared/Fact.tsx';
import { Failure } from '../../shared/Failure.tsx';
import { Guid } from '../../shared/Guid.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { PageLink } from '../../shared/PageLink.tsx';
import { PageLoading } from '../../shared/PageLoading.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { BankName } from './BankName.tsx';
import { ResendEvent } from './ResendEvent.tsx';

/** One event: its body exactly as it is sent, and what became of it at each subscription. */
export function EventPage() {
  const { guid } = useParams({ strict: false }) as { guid: string };
  const { api, can } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/subscription_events', guid],
    queryFn: ({ signal }) => api.get<Event>(`/subscription_events/${guid}`, { signal }),
  });
  const back = (
    <PageLink to="/events" size="sm">
      ← Events
    </PageLink>
  );
  if (!data)
    return (
      <Stack>
        {back}
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <PageLoading />}
      </Stack>
    );
  return (
    <Stack gap="lg">
      {back}
      <PageHeader
        title={data.event_type}
        spaced={false}
        actions={can('subscription_events:execute') ? <ResendEvent event={data} /> : undefined}
      />
      <Panel>
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="lg" pt="sm">
          <Fact label="Happened">
            <Moment at={data.created_at} />
          </Fact>
          <Fact label="Bank">
            <BankName guid={data.bank_guid} />
          </Fact>
          <Fact label="Object">
            <Guid value={data.object_guid} name="object_guid" />
          </Fact>
          <Fact label="Event">
            <Guid value={data.guid} name="event guid" />
          </Fact>
        </SimpleGrid>
      </Panel>
      <Panel title="Deliveries" flush>
        <DeliveryTable
          query={{ subscription_event_guid: guid }}
          showSubscription
          empty={
            <EmptyState icon="webhook" title="It went to nobody">
              There was no subscription in this environment when it happened.
            </EmptyState>
          }
        />
      </Panel>
      <Panel title="Body" hint="Byte for byte what every attempt sends; the signature is over exactly this">
        <CodeBlock label="the raw body" code={rawBody(data)} />
      </Panel>
    </Stack>
  );
}

function rawBody(event: Event): string {
  return bodyOf({
    eventGuid: event.guid,
    organizationGuid: event.organization_guid,
    bankGuid: event.bank_guid ?? null,
    eventType: event.event_type,
    objectGuid: event.object_guid,
    environment: event.environment,
  });
}
