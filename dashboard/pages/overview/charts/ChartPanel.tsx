import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DeliveryStatistics } from '../../../api/types.ts';
import { Panel } from '../../../shared/page/Panel.tsx';

/** Height of a chart with its legend, so that loading does not shift the layout. */
export const CHART_PX = 252;

export function ChartPanel({
  title,
  data,
  children,
}: {
  title: string;
  data: DeliveryStatistics | undefined;
  children: (data: DeliveryStatistics) => ReactNode;
}) {
  return <Panel title={title}>{data ? children(data) : <Skeleton height={CHART_PX} />}</Panel>;
}
