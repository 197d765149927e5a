import { Button, Group, Modal, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Recovery, Subscription } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { GuidFilter } from '../../shared/GuidFilter.tsx';
import { MomentFilter } from '../../shared/MomentFilter.tsx';
import { StateBadge } from '../../shared/StateBadge.tsx';
import { useSubscriptions } from '../../shared/subscription-names.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';

const LOOK_EVERY_MS = 1_000;
const DAY_MS = 86_400_000;

export function Recover({
  subscription,
  onClose,
}: {
  subscription: Subscription | undefined;
  onClose: () => void;
}) {
  const { api, can } = useWorkspace();
  const queries = useQueryClient();
  const candidates = useSubscriptions().filter(({ state }) => state !== 'failed');
  const [target, setTarget] = useState<string | undefined>(subscription?.guid);
  const [since, setSince] = useState<string | undefined>(() => new Date(Date.now() - DAY_MS).toISOString());
  const start = useMutation({
    mutationFn: () => api.post<Recovery>('/subscription_recoveries', { subscription_guid: target, since }),
  });
  const { data: recovery = start.data } = useQuery({
    queryKey: [api.key, '/subscription_recoveries', start.data?.guid],
    queryFn: () => api.get<Recovery>(`/subscription_recoveries/${start.data?.guid}`),
    enabled: start.data !== undefined,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : LOOK_EVERY_MS),
  });
  const finish = () => {
    void queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    onClose();
  };
  return (
    <Modal opened onClose={finish} title="Recover what failed" centered>
      {recovery ? (
        <RecoveryProgress recovery={recovery} onClose={finish} />
      ) : (
        <Stack>
          <Text size="sm">
            Every delivery that failed for good is sent once more. What has succeeded is not sent again.
          </Text>
          {subscription ? (
            <Text size="sm">
              To <strong>{subscription.name}</strong>
            </Text>
          ) : can('subscriptions:read') ? (
            <Select
              label="Subscription"
              placeholder="Which endpoint missed them?"
              data={candidates.map(({ guid, name }) => ({ value: guid, label: name }))}
              value={target ?? null}
              onChange={(guid) => setTarget(guid ?? undefined)}
              data-autofocus
            />
          ) : (
            <GuidFilter label="Subscription" value={target} onChange={setTarget} />
          )}
          <MomentFilter label="Failed since" value={since} onChange={setSince} />
          {start.error ? <Failure error={start.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              disabled={target === undefined || since === undefined}
              loading={start.isPending}
              onClick={() => start.mutate()}
            >
              Recover
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function RecoveryProgress({ recovery, onClose }: { recovery: Recovery; onClose: () => void }) {
  const { total, done, state } = recovery;
  const share = total === 0 ? 100 : (done / total) * 100;
  return (
    <Stack>
      <Group justify="space-between">
        <StateBadge state={state} />
        <Text size="sm" role="status">
          {total === 0
            ? 'Nothing failed in that time'
            : `${done.toLocaleString('en')} of ${total.toLocaleString('en')} sent again`}
        </Text>
      </Group>
      <Progress value={share} size="lg" animated={state === 'running'} aria-label="How far the recovery is" />
      {state === 'failed' ? (
        <Text size="sm" c="red">
          The subscription stopped delivering on the way.
        </Text>
      ) : null}
      <Text size="sm" c="dimmed">
        It goes on by itself when you close this.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
