import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import {
  useDeliveringSubscriptions,
  useIsStopped,
} from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { notifyError, notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { RedeliverFailedButton } from '../events/RedeliverFailedButton.tsx';
import { RenameSubscription } from './RenameSubscription.tsx';
import { RollSigningKey } from './RollSigningKey.tsx';
import { SupportNote } from './SupportNote.tsx';
import { useSubscriptionApi } from './use-subscription-api.ts';

/**
 * What may be done with it now: nothing is sent to one that does not deliver, a protected one is never offered for
 * deletion, a deleting one not again, and a failed one has no key that is in use.
 */
export function SubscriptionActions({ subscription }: { subscription: Subscription }) {
  const { can, api } = useWorkspace();
  const calls = useSubscriptionApi();
  const queries = useQueryClient();
  const targets = useDeliveringSubscriptions();
  const isStopped = useIsStopped(subscription);
  const [doing, setDoing] = useState<'rename' | 'roll' | 'delete'>();
  const close = () => setDoing(undefined);
  const { guid, name, state, protection_enabled: isProtected } = subscription;
  const delivers = targets?.includes(guid);
  const mayEnd = can('subscriptions:execute') && state !== 'deleting' && !isProtected;
  const test = useMutation({
    mutationFn: () => calls.sendTest(guid),
    onSuccess: async () => {
      notifySuccess(
        state === 'storing'
          ? 'Retrying the first event. The test event follows with the first 2xx.'
          : 'A test event is on its way.',
      );
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    },
    onError: notifyError,
  });
  return (
    <>
      {delivers ? (
        <>
          <Button
            variant="default"
            leftSection={<Icon name="send" size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send test event
          </Button>
          <RedeliverFailedButton subscription={subscription} />
        </>
      ) : null}
      {can('subscriptions:write') ? (
        <Button variant="default" onClick={() => setDoing('rename')}>
          Rename
        </Button>
      ) : null}
      {mayEnd && state !== 'failed' ? (
        <Button variant="default" onClick={() => setDoing('roll')}>
          Roll signing key
        </Button>
      ) : null}
      {mayEnd ? (
        <Button variant="light" color="red" onClick={() => setDoing('delete')}>
          Delete
        </Button>
      ) : null}
      {isProtected ? <SupportNote>Protected. To delete it, write to</SupportNote> : null}
      {isStopped ? (
        <SupportNote>Its deliveries are stopped. To have them started again, write to</SupportNote>
      ) : null}
      {doing === 'rename' ? <RenameSubscription subscription={subscription} onClose={close} /> : null}
      {doing === 'roll' ? <RollSigningKey subscription={subscription} onClose={close} /> : null}
      {doing === 'delete' ? (
        <ConfirmByName
          title="Delete this subscription"
          word={name}
          action="Delete in 24 hours"
          onClose={close}
          onConfirm={async () => {
            await calls.remove(guid);
            await queries.invalidateQueries({ queryKey: calls.listKey });
            notifySuccess(
              delivers
                ? `${name} delivers for 24 hours more, then it is gone.`
                : `${name} is gone in 24 hours.`,
            );
          }}
        >
          {delivers
            ? 'It goes on delivering for 24 hours, so that you can move to another endpoint. It cannot be called back.'
            : 'It delivers nothing any more, and is gone in 24 hours. It cannot be called back.'}
        </ConfirmByName>
      ) : null}
    </>
  );
}
