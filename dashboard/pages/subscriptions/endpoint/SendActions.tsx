import { useDeliveringSubscriptions } from '../../../shared/deliveries/use-delivering-subscriptions.ts';
import { RedeliverButton } from '../redelivery/RedeliverButton.tsx';
import type { NamedSubscription } from '../redelivery/RedeliverForm.tsx';
import { SendTestEvent } from './SendTestEvent.tsx';

/** For roles that may send, while the subscription delivers. */
export function SendActions({
  subscription,
  isPaused,
}: {
  subscription: NamedSubscription;
  isPaused: boolean;
}) {
  if (!useDeliveringSubscriptions()?.includes(subscription.guid)) return null;
  return (
    <>
      {isPaused ? null : <SendTestEvent guid={subscription.guid} />}
      <RedeliverButton subscription={subscription} />
    </>
  );
}
