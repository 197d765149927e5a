import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EndpointHealth } from '../../api/types.ts';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { DetailPage } from '../../shared/page/DetailPage.tsx';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { SendActions } from './endpoint/SendActions.tsx';
import { EndpointStatus } from './status/EndpointStatus.tsx';

const REFRESH_MS = 5_000;

/** A subscription for roles that cannot manage it. */
export function EndpointPage({ back }: { back: ReactNode }) {
  return (
    <DetailPage<EndpointHealth> path="/endpoint_health" back={back} refreshMs={REFRESH_MS}>
      {(endpoint) => {
        const { subscription_guid: guid, name, host, health } = endpoint;
        return (
          <>
            <PageHeader
              title={name}
              guide="webhooks#after-an-outage"
              spaced={false}
              actions={<SendActions subscription={{ guid, name }} isPaused={health === 'paused'} />}
            >
              <Group gap="sm">
                {host}
                <HealthBadge {...endpoint} />
              </Group>
            </PageHeader>
            <EndpointStatus guid={guid} />
          </>
        );
      }}
    </DetailPage>
  );
}
