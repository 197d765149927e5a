import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import {
  useDeliveringSubscriptions,
  useIsDisabled,
} from '../../shared/deliveries/use-delivering-subscriptions.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { ConfirmByName } from '../../shared/forms/ConfirmByName.tsx';
import { NameDialog } from '../../shared/forms/NameDialog.tsx';
import { EndpointActions } from './endpoint/EndpointActions.tsx';
import { SendActions } from './endpoint/SendActions.tsx';
import { RollActions } from './roll/RollActions.tsx';
import { SupportNote } from './SupportNote.tsx';
import { useSubscriptionApi } from './use-subscription-api.ts';

export function SubscriptionActions({ subscription }: { subscription: Subscription }) {
  const { can } = useWorkspace();
  const { change, remove } = useSubscriptionApi();
  const delivering = useDeliveringSubscriptions();
  const isDisabled = useIsDisabled(subscription);
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  const { guid, name, state, protection_enabled: isProtected } = subscription;
  const isDelivering = delivering?.includes(guid);
  const canDelete = can('subscriptions:execute') && state !== 'deleting' && !isProtected;
  return (
    <>
      <SendActions subscription={subscription} isPaused={subscription.paused_at !== undefined} />
      {can('subscriptions:write') ? (
        <Button variant="default" onClick={() => setDialog('rename')}>
          Rename
        </Button>
      ) : null}
      <EndpointActions subscription={subscription} />
      {canDelete && state !== 'failed' ? <RollActions subscription={subscription} /> : null}
      {canDelete ? (
        <Button variant="light" color="red" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      ) : null}
      {isProtected ? <SupportNote>Protected. To delete it, contact</SupportNote> : null}
      {isDisabled ? <SupportNote>Disabled by the operator. To enable it, contact</SupportNote> : null}
      {dialog === 'rename' ? (
        <NameDialog
          title="Rename subscription"
          action="Rename"
          initial={name}
          onSave={(changed) => change(guid, { name: changed })}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? (
        <ConfirmByName
          title="Delete subscription"
          name={name}
          action="Delete in 24 hours"
          onClose={close}
          onConfirm={async () => {
            await remove(guid);
            notifySuccess(
              isDelivering
                ? `${name} will be deleted in 24 hours and delivers until then.`
                : `${name} will be deleted in 24 hours.`,
            );
          }}
        >
          {isDelivering
            ? 'The subscription keeps delivering for 24 hours, so that you can move to another endpoint. This cannot be undone.'
            : 'The subscription no longer delivers and is deleted in 24 hours. This cannot be undone.'}
        </ConfirmByName>
      ) : null}
    </>
  );
}
