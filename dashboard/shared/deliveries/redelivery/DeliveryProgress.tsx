import { Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Attempt, Delivery, DetailedDelivery } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { waitingLabel } from '../../endpoints/endpoint-labels.ts';
import { useEndpoint } from '../../endpoints/use-endpoints.ts';
import { PageLink } from '../../text/PageLink.tsx';
import { StateBadge } from '../../text/StateBadge.tsx';
import { formatDuration } from '../../time/format-time.ts';
import { deliveryLabel } from '../delivery-labels.ts';
import { NextAttempt } from '../NextAttempt.tsx';

const POLL_MS = 1_000;

/** Follows a delivery that was just requested until its first attempt has an outcome. */
export function DeliveryProgress({ created, what }: { created: Delivery; what: string }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const { data: delivery } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', created.guid],
    queryFn: ({ signal }) =>
      api.get<DetailedDelivery>(`/subscription_deliveries/${created.guid}`, { signal }),
    refetchInterval: ({ state }) => (state.data && hasOutcome(state.data) ? false : POLL_MS),
  });
  const shown = delivery ?? created;
  const isDone = delivery !== undefined && hasOutcome(delivery);
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
  }, [isDone, queries, api.key]);
  return (
    <Group gap="xs" role="status" aria-label={what}>
      <StateBadge state={shown.state} label={deliveryLabel(shown)} />
      <Text size="sm">
        {what}:{' '}
        {delivery && isDone ? describeAttempt(delivery.attempts.at(-1)) : <Pending delivery={shown} />}
      </Text>
      {isDone && shown.next_attempt_at ? <NextAttempt at={shown.next_attempt_at} /> : null}
      <PageLink to="/deliveries/$guid" params={{ guid: created.guid }} size="sm">
        View delivery
      </PageLink>
    </Group>
  );
}

function hasOutcome({ state, attempt_count: count }: DetailedDelivery): boolean {
  return count > 0 || state === 'completed' || state === 'failed';
}

/** Behind a backlog of a slow endpoint the first attempt may take long. */
function Pending({ delivery }: { delivery: Delivery }) {
  const { next_attempt_at: next, state, subscription_guid: guid } = delivery;
  const endpoint = useEndpoint(guid);
  if (state === 'storing' && next === undefined)
    return 'queued until the endpoint answers its first event with 2xx';
  const hasBacklog = endpoint !== undefined && endpoint.waiting > 1;
  return hasBacklog ? `queued … ${waitingLabel(endpoint)} deliveries wait for this endpoint` : 'queued …';
}

function describeAttempt(attempt: Attempt | undefined): string {
  if (!attempt) return 'not sent, because the subscription no longer delivers';
  const { outcome, response_status: status, duration_ms: ms, reason } = attempt;
  if (outcome === 'timeout') return `timed out after ${formatDuration(ms)}`;
  return outcome === 'unreachable'
    ? `unreachable${reason ? `, ${reason}` : ''}`
    : `answered ${status} in ${formatDuration(ms)}`;
}
