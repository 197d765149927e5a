import { Button, Menu } from '@mantine/core';
import type { Event } from '../../api/types.ts';
import { useDeliveringSubscriptions } from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { useRedeliver } from '../../shared/deliveries/use-redeliver.ts';
import { useSubscriptionName } from '../../shared/deliveries/use-subscriptions.ts';
import { Icon } from '../../shared/text/Icon.tsx';

/** Sends it once more, to a subscription that delivers. */
export function RedeliverEvent({ event }: { event: Event }) {
  const resend = useRedeliver();
  const nameOf = useSubscriptionName();
  const targets = useDeliveringSubscriptions() ?? [];
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
        {targets.map((guid) => (
          <Menu.Item
            key={guid}
            onClick={() => resend.mutate({ subscription_event_guid: event.guid, subscription_guid: guid })}
          >
            {nameOf(guid) ?? guid}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
