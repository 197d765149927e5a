import { SimpleGrid, Stack } from '@mantine/core';
import { Failure } from '../../shared/Failure.tsx';
import { useFilters } from '../../shared/filters.ts';
import { OutOfDate } from '../../shared/OutOfDate.tsx';
import { PageHeader } from '../../shared/PageHeader.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { ChartPanel } from './ChartPanel.tsx';
import { DeliveryBars } from './DeliveryBars.tsx';
import { Endpoints } from './Endpoints.tsx';
import { EventBars } from './EventBars.tsx';
import { FailingEndpoints } from './FailingEndpoints.tsx';
import { Numbers } from './Numbers.tsx';
import { RangeControl } from './RangeControl.tsx';
import { rangeOf, useStatistics } from './statistics.ts';

/** How deliveries do in this environment, at a glance. */
export function WebhookOverview() {
  const { environment } = useWorkspace();
  const { filters } = useFilters();
  const { data, error, refetch } = useStatistics(rangeOf(filters.range));
  return (
    <Stack gap="lg">
      <PageHeader title="Overview" spaced={false} actions={<RangeControl />}>
        Events and deliveries in {environment}.
      </PageHeader>
      <FailingEndpoints />
      {error && data ? <OutOfDate what="The figures" /> : null}
      {error && !data ? (
        <Failure error={error} title="The figures could not be fetched" onRetry={() => void refetch()} />
      ) : (
        <>
          <Numbers data={data} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <ChartPanel title="Attempts" data={data}>
              {(shown) => <DeliveryBars data={shown} label="Attempts" />}
            </ChartPanel>
            <ChartPanel title="Events" data={data}>
              {(shown) => <EventBars data={shown} />}
            </ChartPanel>
          </SimpleGrid>
          <Endpoints endpoints={data?.subscriptions} />
        </>
      )}
    </Stack>
  );
}
