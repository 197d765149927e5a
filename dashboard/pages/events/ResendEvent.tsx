import { Button, Menu } from '@mantine/core';
import type { Event } from '../../api/types.ts';
import { Icon } from '../../shared/Icon.tsx';
import { useResend } from '../../shared/resend.ts';
import { useSubscriptionName } from '../../shared/subscription-names.ts';
import { useTargets } from '../../shared/targets.ts';

/** Sends it once more, to a subscription that delivers. */
export function ResendEvent({ event }: { event: Event }) {
  const resend = useResend();
  const nameOf = useSubscriptionName();
  const targets = useTargets() ?? [];
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
