import { SimpleGrid, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { createdFor } from '../../shared/endpoints/outage.ts';
import { useEndpoints } from '../../shared/endpoints/use-endpoints.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { StaleAlert } from '../../shared/feedback/StaleAlert.tsx';
import { useFilters } from '../../shared/filters/use-filters.ts';
import { PageHeader } from '../../shared/page/PageHeader.tsx';
import { AttemptBars } from './charts/AttemptBars.tsx';
import { ChartPanel } from './charts/ChartPanel.tsx';
import { EventBars } from './charts/EventBars.tsx';
import { RangeControl } from './charts/RangeControl.tsx';
import { rangeOf, useStatistics } from './charts/use-statistics.ts';
import { EndpointsPanel } from './EndpointsPanel.tsx';
import { FailingEndpoints } from './FailingEndpoints.tsx';
import { SummaryTiles } from './SummaryTiles.tsx';

export function WebhookOverview() {
  const { environment } = useWorkspace();
  const { filters } = useFilters();
  const { data, error, refetch } = useStatistics(rangeOf(filters.range));
  const navigate = useNavigate();
  const failingSince = useEndpoints().data?.objects.flatMap(({ failing_since: from }) => from ?? []) ?? [];
  const openDeliveries = (from: Date, until: Date) => {
    const outages = failingSince.map((since) => ({ from: since }));
    void navigate({ to: '/deliveries', search: createdFor({ from, until }, outages) });
  };
  const openEvents = (from: Date, until: Date) =>
    void navigate({ to: '/events', search: { from: from.toISOString(), until: until.toISOString() } });
  return (
    <Stack gap="lg">
      <PageHeader title="Overview" guide="webhooks" spaced={false} actions={<RangeControl />}>
        Events and deliveries in {environment}.
      </PageHeader>
      <FailingEndpoints />
      {error && data ? <StaleAlert what="the statistics" /> : null}
      {error && !data ? (
        <ErrorAlert error={error} title="Could not load statistics" onRetry={() => void refetch()} />
      ) : (
        <>
          <SummaryTiles data={data} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <ChartPanel title="Attempts" data={data}>
              {(loaded) => <AttemptBars data={loaded} label="Attempts" onOpen={openDeliveries} />}
            </ChartPanel>
            <ChartPanel title="Events" data={data}>
              {(loaded) => <EventBars data={loaded} onOpen={openEvents} />}
            </ChartPanel>
          </SimpleGrid>
          <EndpointsPanel endpoints={data?.subscriptions} />
        </>
      )}
    </Stack>
  );
}
