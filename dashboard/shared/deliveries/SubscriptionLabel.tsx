import { Guid } from '../text/Guid.tsx';
import { PageLink } from '../text/PageLink.tsx';
import { useSubscriptionName } from './use-subscriptions.ts';

/** A link by name; the guid if the subscription is deleted. */
export function SubscriptionLabel({ guid }: { guid: string }) {
  const name = useSubscriptionName()(guid);
  if (name === undefined) return <Guid value={guid} name="ID of the subscription" />;
  return (
    <PageLink to="/subscriptions/$guid" params={{ guid }} size="sm" style={{ overflowWrap: 'anywhere' }}>
      {name}
    </PageLink>
  );
}
