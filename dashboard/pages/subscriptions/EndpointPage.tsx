import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EndpointHealth } from '../../api/types.ts';
import { DeliveryTable } from '../../shared/deliveries/DeliveryTable.tsx';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { EndpointStatus } from './EndpointStatus.tsx';

const REFRESH_MS = 5_000;

/** A subscription for roles that cannot manage it. */
export function EndpointPage({ back }: { back: ReactNode }) {
  return (
    <DetailPage<EndpointHealth> path="/endpoint_health" back={back} refreshMs={REFRESH_MS}>
      {(endpoint) => (
        <>
          <PageHeader title={endpoint.name} spaced={false}>
            <Group gap="sm">
              {endpoint.host}
              <HealthBadge {...endpoint} />
            </Group>
          </PageHeader>
          <EndpointStatus guid={endpoint.subscription_guid} />
          <Panel title="Deliveries" flush>
            <DeliveryTable
              query={{ subscription_guid: endpoint.subscription_guid }}
              showEvent
              filterable
              empty={
                <EmptyState icon="send" title="No deliveries yet">
                  Deliveries appear here as soon as an event is created.
                </EmptyState>
              }
            />
          </Panel>
        </>
      )}
    </DetailPage>
  );
}
