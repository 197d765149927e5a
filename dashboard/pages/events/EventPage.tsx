import { SimpleGrid } from '@mantine/core';
import { bodyOf } from '../../../server/webhooks/deliveries/delivery.ts';
import type { Event } from '../../api/types.ts';
import { CodeBlock } from '../../shared/CodeBlock.tsx';
import { DeliveryTable } from '../../shared/DeliveryTable.tsx';
import { DetailPage } from '../../shared/DetailPage.tsx';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Fact } from '../../shared/Fact.tsx';
import { Guid } from '../../shared/Guid.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { PageLink } from '../../shared/PageLink.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { BankName } from './BankName.tsx';
import { ResendEvent } from './ResendEvent.tsx';

/** One event: its body exactly as it is sent, and what became of it at each subscription. */
export function EventPage() {
  const back = (
    <PageLink to="/events" size="sm">
      ← Events
    </PageLink>
  );
  return (
    <DetailPage<Event> path="/subscription_events" back={back}>
      {(event) => (
        <>
          <PageHeader title={event.event_type} spaced={false} actions={<ResendEvent event={event} />} />
          <Panel>
            <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="lg" pt="sm">
              <Fact label="Happened">
                <Moment at={event.created_at} />
              </Fact>
              <Fact label="Bank">
                <BankName guid={event.bank_guid} />
              </Fact>
              <Fact label="Object">
                <Guid value={event.object_guid} name="object_guid" />
              </Fact>
              <Fact label="Event">
                <Guid value={event.guid} name="event guid" />
              </Fact>
            </SimpleGrid>
          </Panel>
          <Panel title="Deliveries" flush>
            <DeliveryTable
              query={{ subscription_event_guid: event.guid }}
              showSubscription
              empty={
                <EmptyState icon="webhook" title="It went to nobody">
                  There was no subscription in this environment when it happened.
                </EmptyState>
              }
            />
          </Panel>
          <Panel
            title="Body"
            hint="Byte for byte what every attempt sends; the signature is over exactly this"
          >
            <CodeBlock label="the raw body" code={rawBody(event)} />
          </Panel>
        </>
      )}
    </DetailPage>
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
