import { Code, Group, Text } from '@mantine/core';
import type { Delivery } from '../../api/types.ts';
import { StateBadge } from '../text/StateBadge.tsx';
import { deliveryLabel } from './delivery-labels.ts';

const FAILURES = { timeout: 'timed out', unreachable: 'unreachable', rejected: 'HTTP' } as const;

export function DeliveryOutcome({
  delivery,
  showApiState = false,
}: {
  delivery: Pick<Delivery, 'state' | 'failure_kind' | 'response_status'>;
  /** In small print, for developers. */
  showApiState?: boolean;
}) {
  const { state, failure_kind: kind, response_status: status } = delivery;
  return (
    <Group gap={6} wrap={showApiState ? 'wrap' : 'nowrap'}>
      <StateBadge state={state} label={deliveryLabel(delivery)} />
      {showApiState ? <Code fz={11}>{state}</Code> : null}
      {state !== 'completed' && kind ? (
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {FAILURES[kind]} {status ?? ''}
        </Text>
      ) : null}
    </Group>
  );
}
