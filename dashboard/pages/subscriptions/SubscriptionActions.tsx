import { Anchor, Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { ConfirmTyped } from '../../shared/ConfirmTyped.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { tell, tellProblem } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { RecoverButton } from '../events/RecoverButton.tsx';
import { useSubscriptionCalls } from './calls.ts';
import { RenameSubscription } from './RenameSubscription.tsx';
import { RollSigningKey } from './RollSigningKey.tsx';

/** What may be done with it now: a protected one is never offered for deletion, a deleting one not again. */
export function SubscriptionActions({ subscription }: { subscription: Subscription }) {
  const { can, api, session } = useWorkspace();
  const calls = useSubscriptionCalls();
  const queries = useQueryClient();
  const [doing, setDoing] = useState<'rename' | 'roll' | 'delete'>();
  const close = () => setDoing(undefined);
  const { guid, name, state, protection_enabled: isProtected } = subscription;
  const delivers = state !== 'failed';
  const test = useMutation({
    mutationFn: () => calls.sendTest(guid),
    onSuccess: async () => {
      tell('A test event is on its way.');
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    },
    onError: tellProblem,
  });
  return (
    <>
      {delivers && can('subscription_events:execute') ? (
        <>
          <Button
            variant="default"
            leftSection={<Icon name="send" size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send test event
          </Button>
          <RecoverButton subscription={subscription} />
        </>
      ) : null}
      {can('subscriptions:write') ? (
        <Button variant="default" onClick={() => setDoing('rename')}>
          Rename
        </Button>
      ) : null}
      {can('subscriptions:execute') && state !== 'deleting' && !isProtected ? (
        <>
          <Button variant="default" onClick={() => setDoing('roll')}>
            Roll signing key
          </Button>
          <Button variant="light" color="red" onClick={() => setDoing('delete')}>
            Delete
          </Button>
        </>
      ) : null}
      {isProtected ? (
        <Group gap={6} wrap="nowrap">
          <Icon name="shield" size={16} />
          <Text size="sm" c="dimmed">
            Protected. To delete it, write to{' '}
            <Anchor href={`mailto:${session.support_email}`}>{session.support_email}</Anchor>
          </Text>
        </Group>
      ) : null}
      {doing === 'rename' ? <RenameSubscription subscription={subscription} onClose={close} /> : null}
      {doing === 'roll' ? <RollSigningKey subscription={subscription} onClose={close} /> : null}
      {doing === 'delete' ? (
        <ConfirmTyped
          title="Delete this subscription"
          word={name}
          action="Delete in 24 hours"
          onClose={close}
          onConfirm={async () => {
            await calls.remove(guid);
            await queries.invalidateQueries({ queryKey: calls.listKey });
            tell(`${name} delivers for 24 hours more, then it is gone.`);
          }}
        >
          It goes on delivering for 24 hours, so that you can move to another endpoint. It cannot be called
          back.
        </ConfirmTyped>
      ) : null}
    </>
  );
}
