import { PageLink } from '../page/PageLink.tsx';
import { Guid } from '../text/Guid.tsx';
import { useSubscriptionName } from './use-subscriptions.ts';

/** By name with a way to it, or by guid for those who may not see subscriptions, and for those that are gone. */
export function SubscriptionLabel({ guid }: { guid: string }) {
  const name = useSubscriptionName()(guid);
  if (name === undefined) return <Guid value={guid} name="subscription_guid" />;
  return (
    <PageLink to="/subscriptions/$guid" params={{ guid }} size="sm" style={{ overflowWrap: 'anywhere' }}>
      {name}
    </PageLink>
  );
}
