import { bodyOf } from '../../../server/webhooks/deliveries/delivery.ts';
import type { Event } from '../../api/types.ts';
import { DeliveryTable } from '../../shared/deliveries/DeliveryTable.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { DetailsPanel } from '../../shared/page/DetailsPanel.tsx';
import { LabeledValue } from '../../shared/page/LabeledValue.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { CodeBlock } from '../../shared/text/CodeBlock.tsx';
import { Guid } from '../../shared/text/Guid.tsx';
import { ObjectLink } from '../../shared/text/ObjectLink.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';
import { RelativeTime } from '../../shared/time/RelativeTime.tsx';
import { BankName } from './BankName.tsx';
import { RedeliverEvent } from './RedeliverEvent.tsx';

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
          <PageHeader
            title={event.event_type}
            guide="webhooks#event-types"
            spaced={false}
            actions={<RedeliverEvent event={event} />}
          />
          <DetailsPanel>
            <LabeledValue label="Created">
              <RelativeTime at={event.created_at} />
            </LabeledValue>
            <LabeledValue label="Bank">
              <BankName guid={event.bank_guid} />
            </LabeledValue>
            <LabeledValue label="Object">
              <ObjectLink type={event.event_type.split('.')[0] ?? ''} guid={event.object_guid} />
            </LabeledValue>
            <LabeledValue label="ID">
              <Guid value={event.guid} name="ID of the event" />
            </LabeledValue>
          </DetailsPanel>
          <Panel title="Deliveries" flush>
            <DeliveryTable
              query={{ subscription_event_guid: event.guid }}
              showSubscription
              empty={
                <EmptyState icon="webhook" title="No deliveries">
                  No subscription existed in this environment when the event was created.
                </EmptyState>
              }
            />
          </Panel>
          <Panel title="Body" hint="The exact bytes of every attempt, as they are signed">
            <CodeBlock label="request body" code={rawBody(event)} />
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
