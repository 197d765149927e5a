import type { Database } from '../../../infrastructure/database/database.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Receiver, Subscriptions } from '../../subscriptions/service.ts';
import type { Visible } from '../store.ts';

/** To whom something can be sent once more: a subscription of the caller's that still delivers. */
export async function findTarget(
  subscriptions: Subscriptions,
  visible: Visible,
  subscriptionGuid: string,
): Promise<Receiver | Failure> {
  const [receiver] = await subscriptions.receivers([subscriptionGuid]);
  if (!receiver || !isOwn(receiver, visible))
    return new Failure('not_found', 'subscription_guid does not name a subscription');
  if (!receiver.delivers)
    return new Failure(
      'delivery_not_retryable',
      'subscription_guid names a subscription that no longer delivers',
    );
  return receiver;
}

/** All of those that `findTarget` would find. */
export async function findTargets(
  { database, subscriptions }: { database: Database; subscriptions: Subscriptions },
  visible: Visible,
): Promise<Receiver[]> {
  const receivers = await database.transaction((transaction) =>
    subscriptions.receiversOf(transaction, [visible.organizationGuid]),
  );
  return receivers.filter((receiver) => receiver.delivers && isOwn(receiver, visible));
}

function isOwn(receiver: Receiver, { organizationGuid, environment }: Visible): boolean {
  return (
    receiver.organizationGuid === organizationGuid &&
    receiver.environment === (environment ?? receiver.environment)
  );
}
