import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Subscription } from '../../api/types.ts';
import { DeliveryTable } from '../../shared/DeliveryTable.tsx';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Failure } from '../../shared/Failure.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { PageLink } from '../../shared/PageLink.tsx';
import { PageLoading } from '../../shared/PageLoading.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { SubscriptionActions } from './SubscriptionActions.tsx';
import { SubscriptionFacts } from './SubscriptionFacts.tsx';

const REFRESH_MS = 5_000;
const SubscriptionChart = lazy(() => import('./SubscriptionChart.tsx'));

/** One endpoint: what it is, how it does, what was sent to it. */
export function SubscriptionPage() {
  const { guid } = useParams({ strict: false }) as { guid: string };
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/subscriptions', guid],
    queryFn: ({ signal }) => api.get<Subscription>(`/subscriptions/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const back = (
    <PageLink to="/subscriptions" size="sm">
      ← Subscriptions
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
      <div>
        <PageHeader title={data.name} actions={<SubscriptionActions subscription={data} />}>
          {data.url}
        </PageHeader>
        <SubscriptionFacts subscription={data} />
      </div>
      <Suspense fallback={<Skeleton height={300} radius="lg" />}>
        <SubscriptionChart guid={guid} />
      </Suspense>
      <Panel title="Deliveries" flush>
        <DeliveryTable
          query={{ subscription_guid: guid }}
          showEvent
          empty={
            <EmptyState icon="send" title="Nothing was sent here yet">
              Events of this environment appear here as they happen. Send a test event to see one.
            </EmptyState>
          }
        />
      </Panel>
    </Stack>
  );
}
