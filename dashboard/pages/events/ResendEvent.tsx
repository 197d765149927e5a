import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Delivery, Event, List } from '../../api/types.ts';
import { Icon } from '../../shared/Icon.tsx';
import { tell, tellProblem } from '../../shared/notify.ts';
import { useSubscriptions } from '../../shared/subscription-names.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';

/** Sends it once more, to a subscription that still delivers. */
export function ResendEvent({ event }: { event: Event }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const targets = useTargets(event);
  const resend = useMutation({
    mutationFn: (subscriptionGuid: string) =>
      api.post<Delivery>('/subscription_deliveries', {
        subscription_event_guid: event.guid,
        subscription_guid: subscriptionGuid,
      }),
    onSuccess: async () => {
      tell('Sent once more, as a new delivery.');
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    },
    onError: tellProblem,
  });
  if (targets.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button leftSection={<Icon name="send" size={16} />} loading={resend.isPending}>
          Resend
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>To which subscription?</Menu.Label>
        {targets.map(({ guid, name }) => (
          <Menu.Item key={guid} onClick={() => resend.mutate(guid)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Those that are there by name; who may not see them knows the ones that it went to. */
function useTargets({ guid }: Event): { guid: string; name: string }[] {
  const { api, can } = useWorkspace();
  const subscriptions = useSubscriptions();
  const maySee = can('subscriptions:read');
  const { data } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', 'of', guid],
    queryFn: () =>
      api.get<List<Delivery>>('/subscription_deliveries', { query: { subscription_event_guid: guid } }),
    enabled: !maySee,
  });
  if (maySee) return subscriptions.filter(({ state }) => state !== 'failed');
  const guids = new Set(data?.objects.map(({ subscription_guid: target }) => target));
  return [...guids].map((target) => ({ guid: target, name: target }));
}
