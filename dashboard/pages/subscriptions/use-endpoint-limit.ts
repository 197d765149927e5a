import { useQuery } from '@tanstack/react-query';
import {
  COUNTED_STATES,
  MAX_RECEIVING,
  MAX_SUBSCRIPTIONS,
  RECEIVING_STATES,
} from '../../../server/webhooks/subscriptions/state.ts';
import { createApi } from '../../api/client.ts';
import type { List, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const REFRESH_MS = 5_000;

/** Set when the server would reject another subscription; undefined while loading. */
export function useEndpointLimit(): { limit: number; message: string } | undefined {
  const { api, can, organization, session, tokens } = useWorkspace();
  const { data: states = [] } = useQuery({
    queryKey: [api.key, '/subscriptions', 'counted'],
    queryFn: async ({ signal }) => {
      const query = { state: RECEIVING_STATES.join(','), per_page: MAX_RECEIVING };
      // The limits span both environments, but a token is valid for only one.
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
  const counted = states.filter((state) => COUNTED_STATES.includes(state)).length;
  if (counted >= MAX_SUBSCRIPTIONS)
    return {
      limit: MAX_SUBSCRIPTIONS,
      message: `${counted} of ${MAX_SUBSCRIPTIONS} endpoints used in sandbox and production. Delete one to add another.`,
    };
  if (states.length >= MAX_RECEIVING)
    return {
      limit: MAX_RECEIVING,
      message: `${states.length} of ${MAX_RECEIVING} endpoints used, including those being deleted. Wait for a deletion to complete.`,
    };
  return undefined;
}
