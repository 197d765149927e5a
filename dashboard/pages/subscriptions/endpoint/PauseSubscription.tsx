import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { EndpointHealth, Subscription } from '../../../api/types.ts';
import { waitingLabel } from '../../../shared/endpoints/endpoint-labels.ts';
import { useEndpoint } from '../../../shared/endpoints/use-endpoints.ts';
import { notifySuccess } from '../../../shared/feedback/notify.ts';
import { Dialog } from '../../../shared/forms/Dialog.tsx';
import { FormActions } from '../../../shared/forms/FormActions.tsx';
import { useSubscriptionApi } from '../use-subscription-api.ts';

/** Pauses the subscription, or resumes it. */
export function PauseSubscription({
  subscription,
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const { change } = useSubscriptionApi();
  const endpoint = useEndpoint(subscription.guid);
  const { guid, name } = subscription;
  // The page refreshes the subscription, and the button must not become its opposite under the pointer.
  const [pauses] = useState(subscription.paused_at === undefined);
  const changing = useMutation({
    mutationFn: () => change(guid, { paused: pauses }),
    onSuccess: () => {
      notifySuccess(pauses ? `${name} is paused.` : `${name} is resumed. Waiting deliveries are being sent.`);
      onClose();
    },
  });
  return (
    <Dialog title={pauses ? `Pause ${name}` : `Resume ${name}`} locked={changing.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">
          {pauses
            ? 'Nothing is sent to this endpoint until you resume. Deliveries wait and are not lost: each waits for up to 7 days after its creation and then fails. Requests that are already being sent are completed.'
            : `${endpoint ? waitingDeliveries(endpoint) : 'Waiting deliveries'} will be sent now, a few at a time first and faster while the endpoint answers 2xx.`}
        </Text>
        <FormActions
          action={pauses ? 'Pause' : 'Resume'}
          onAction={changing.mutate}
          pending={changing.isPending}
          error={changing.error}
          onCancel={onClose}
        />
      </Stack>
    </Dialog>
  );
}

function waitingDeliveries(endpoint: EndpointHealth): string {
  return endpoint.waiting === 1 ? '1 waiting delivery' : `${waitingLabel(endpoint)} waiting deliveries`;
}
