import { Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Recovery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useDeliveringSubscriptions } from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { useSubscriptionName } from '../../shared/deliveries/use-subscriptions.ts';
import { DateTimeFilter } from '../../shared/filters/DateTimeFilter.tsx';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { useNow } from '../../shared/time/NowProvider.tsx';
import { RedeliveryProgress } from './RedeliveryProgress.tsx';

const POLL_MS = 1_000;
const DAY_MS = 86_400_000;

export function RedeliverFailedDialog({
  subscription,
  onClose,
}: {
  subscription: Subscription | undefined;
  onClose: () => void;
}) {
  const { api, environment } = useWorkspace();
  const queries = useQueryClient();
  const now = useNow();
  const delivering = useDeliveringSubscriptions();
  const nameOf = useSubscriptionName();
  const [subscriptionGuid, setSubscriptionGuid] = useState<string | undefined>(subscription?.guid);
  const [since, setSince] = useState<string | undefined>(() => new Date(now - DAY_MS).toISOString());
  const isPast = since !== undefined && Date.parse(since) < now;
  const start = useMutation({
    mutationFn: () =>
      api.post<Recovery>('/subscription_recoveries', { subscription_guid: subscriptionGuid, since }),
  });
  const { data: redelivery = start.data } = useQuery({
    queryKey: [api.key, '/subscription_recoveries', start.data?.guid],
    queryFn: () => api.get<Recovery>(`/subscription_recoveries/${start.data?.guid}`),
    enabled: start.data !== undefined,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : POLL_MS),
  });
  const finish = () => {
    void queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    onClose();
  };
  return (
    <Dialog title="Redeliver failed events" locked={start.isPending} onClose={finish}>
      {redelivery ? (
        <RedeliveryProgress redelivery={redelivery} onClose={finish} />
      ) : (
        <Stack>
          <Text size="sm">
            Creates a redelivery for every delivery that has failed permanently. Completed deliveries are not
            repeated.
          </Text>
          {subscription ? (
            <Text size="sm">
              Subscription: <strong>{subscription.name}</strong>
            </Text>
          ) : (
            <Select
              label="Subscription"
              description={
                delivering?.length === 0 ? `No subscription is delivering in ${environment}` : undefined
              }
              placeholder="Select a subscription"
              data={delivering?.map((guid) => ({ value: guid, label: nameOf(guid) ?? guid })) ?? []}
              value={subscriptionGuid ?? null}
              onChange={(guid) => setSubscriptionGuid(guid ?? undefined)}
              data-autofocus
            />
          )}
          <DateTimeFilter label="Failed since" value={since} onChange={setSince} />
          {since !== undefined && !isPast ? (
            <Text size="sm" c="red" role="alert">
              Choose a time in the past.
            </Text>
          ) : null}
          <FormActions
            action="Redeliver"
            onAction={start.mutate}
            disabled={subscriptionGuid === undefined || !isPast}
            pending={start.isPending}
            error={start.error}
            onCancel={onClose}
          />
        </Stack>
      )}
    </Dialog>
  );
}
