import { SimpleGrid } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { DeliveryStatistics } from '../../api/types.ts';
import { Panel } from '../../shared/Panel.tsx';
import { DeliveriesChart } from './DeliveriesChart.tsx';
import { EventsChart } from './EventsChart.tsx';

/** Apart from the page, so that the numbers are there before the charts are loaded. */
export default function Charts({ statistics }: { statistics: UseQueryResult<DeliveryStatistics> }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Panel title="Attempts per minute">
        <DeliveriesChart statistics={statistics} label="Attempts per minute" />
      </Panel>
      <Panel title="Events per minute">
        <EventsChart data={statistics.data} />
      </Panel>
    </SimpleGrid>
  );
}
