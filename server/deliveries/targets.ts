import { Failure } from '../runtime/failure.ts';
import type { Receiver, Subscriptions } from '../subscriptions/service.ts';
import type { Visible } from './store.ts';

/** To whom something can be sent once more: a subscription of the caller's that still delivers. */
export async function findTarget(
  subscriptions: Subscriptions,
  { organizationGuid, environment }: Visible,
  subscriptionGuid: string,
): Promise<Receiver | Failure> {
  const [receiver] = await subscriptions.receivers([subscriptionGuid]);
  const isOwn =
    receiver?.organizationGuid === organizationGuid &&
    receiver.environment === (environment ?? receiver.environment);
  if (!isOwn) return new Failure('not_found', 'subscription_guid does not name a subscription');
  if (!receiver.delivers)
    return new Failure(
      'delivery_not_retryable',
      'subscription_guid names a subscription that no longer delivers',
    );
  return receiver;
}
