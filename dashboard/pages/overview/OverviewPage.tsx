import { Button, Skeleton, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Failure } from '../../shared/Failure.tsx';
import { useFilters } from '../../shared/filters.ts';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { Endpoints } from './Endpoints.tsx';
import { FailingEndpoints } from './FailingEndpoints.tsx';
import { Numbers } from './Numbers.tsx';
import { RangeControl } from './RangeControl.tsx';
import { rangeOf, useStatistics } from './statistics.ts';

const Charts = lazy(() => import('./Charts.tsx'));

/** How deliveries do in this environment, at a glance. */
export function OverviewPage() {
  const { organization, session } = useWorkspace();
  if (!organization.features.includes('webhooks'))
    return (
      <EmptyState icon="webhook" title="Webhooks are not enabled">
        Write to {session.support_email} to have them enabled for {organization.name}.
      </EmptyState>
    );
  return <WebhookOverview />;
}

function WebhookOverview() {
  const { environment, can } = useWorkspace();
  const { filters } = useFilters();
  const statistics = useStatistics(rangeOf(filters.range));
  const { data, error, refetch } = statistics;
  const setUp = can('subscriptions:write') ? (
    <Button component={Link} to="/onboarding">
      Set up webhooks
    </Button>
  ) : undefined;
  return (
    <Stack gap="lg">
      <PageHeader title="Overview" spaced={false} actions={<RangeControl />}>
        Events and deliveries in {environment}.
      </PageHeader>
      <FailingEndpoints />
      {error && !data ? <Failure error={error} onRetry={() => void refetch()} /> : <Numbers data={data} />}
      {error && !data ? null : (
        <Suspense fallback={<Skeleton height={320} radius="lg" />}>
          <Charts statistics={statistics} />
        </Suspense>
      )}
      {data && data.subscriptions.length > 0 ? (
        <Panel title="Endpoints" hint="Those in trouble first" flush>
          <Endpoints endpoints={data.subscriptions} />
        </Panel>
      ) : null}
      {data?.subscriptions.length === 0 ? (
        <Panel>
          <EmptyState icon="webhook" title="Nothing was delivered in this time" action={setUp}>
            Once a subscription is there, this shows for each endpoint how it does.
          </EmptyState>
        </Panel>
      ) : null}
    </Stack>
  );
}
