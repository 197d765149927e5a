import { useQuery } from '@tanstack/react-query';
import type { Delivery, Recovery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ActorName } from '../text/ActorName.tsx';
import { PageLink } from '../text/PageLink.tsx';

/** Who requested an attempt; of a redelivery of many events, who started it. */
export function RequestedBy({ requester }: { requester: Delivery['requested_by'] }) {
  if (requester === undefined) return 'Automatic';
  if (requester.type === 'recovery') return <RedeliveredBy guid={requester.id} />;
  return <ActorName {...requester} />;
}

function RedeliveredBy({ guid }: { guid: string }) {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/subscription_recoveries', guid],
    queryFn: ({ signal }) => api.get<Recovery>(`/subscription_recoveries/${guid}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data) return 'Redelivery of many events';
  return (
    <>
      {data.actor_type === undefined ? null : (
        <>
          <ActorName type={data.actor_type} id={data.actor} />
          {', '}
        </>
      )}
      <PageLink
        to="/subscriptions/$guid"
        params={{ guid: data.subscription_guid }}
        search={{ redelivery: guid }}
        hash="redeliveries"
        inherit
        underline="always"
      >
        redelivery of many events
      </PageLink>
    </>
  );
}
