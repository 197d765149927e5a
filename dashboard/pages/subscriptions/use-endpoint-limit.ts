import { useQuery } from '@tanstack/react-query';
import {
  COUNTED_STATES,
  MAX_RECEIVING,
  MAX_SUBSCRIPTIONS,
  RECEIVING_STATES,
} from '../../../server/subscriptions/state.ts';
import { createApi } from '../../api/client.ts';
import type { List, Subscription } from '../../api/types.ts';
import { useServices } from '../../session/services.ts';
import { useWorkspace } from '../../session/workspace.ts';

const REFRESH_MS = 5_000;

/** Why the server would refuse another one; as long as that is not known, it would not. */
export function useEndpointLimit(): string | undefined {
  const { tokens } = useServices();
  const { api, can, organization, session } = useWorkspace();
  const { data: states = [] } = useQuery({
    queryKey: [api.key, '/subscriptions', 'counted'],
    queryFn: async ({ signal }) => {
      const query = { state: RECEIVING_STATES.join(','), per_page: MAX_RECEIVING };
      // A token is for one environment, the limits are for both.
      const lists = session.environments.map((environment) =>
        createApi(tokens, { organizationGuid: organization.guid, environment }).get<List<Subscription>>(
          '/subscriptions',
          { query: { ...query, environment }, signal },
        ),
      );
      return (await Promise.all(lists)).flatMap(({ objects }) => objects.map(({ state }) => state));
    },
    refetchInterval: REFRESH_MS,
    enabled: can('subscriptions:read'),
  });
  if (states.filter((state) => COUNTED_STATES.includes(state)).length >= MAX_SUBSCRIPTIONS)
    return `An Organization has at most ${MAX_SUBSCRIPTIONS} subscriptions, over both environments. Delete one first.`;
  if (states.length >= MAX_RECEIVING)
    return `At most ${MAX_RECEIVING} subscriptions deliver at a time. Wait until those that are being deleted have ended.`;
  return undefined;
}
