import { Box, Button, Menu } from '@mantine/core';
import type { Event } from '../../api/types.ts';
import { DeliveryProgress } from '../../shared/deliveries/redelivery/DeliveryProgress.tsx';
import { useDeliveringSubscriptions } from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { useRedeliver } from '../../shared/deliveries/use-redeliver.ts';
import { useSubscriptionName } from '../../shared/deliveries/use-subscriptions.ts';
import { Icon } from '../../shared/text/Icon.tsx';

export function RedeliverEvent({ event }: { event: Event }) {
  const redeliver = useRedeliver();
  const nameOf = useSubscriptionName();
  const subscriptions = useDeliveringSubscriptions() ?? [];
  if (subscriptions.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button leftSection={<Icon name="send" size={16} />} loading={redeliver.isPending}>
            Redeliver
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Redeliver to</Menu.Label>
          {subscriptions.map((guid) => (
            <Menu.Item
              key={guid}
              onClick={() =>
                redeliver.mutate({ subscription_event_guid: event.guid, subscription_guid: guid })
              }
            >
              {nameOf(guid) ?? guid}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {redeliver.data ? (
        <Box style={{ flexBasis: '100%', order: 1 }}>
          <DeliveryProgress key={redeliver.data.guid} created={redeliver.data} what="Redelivery" />
        </Box>
      ) : null}
    </>
  );
}
