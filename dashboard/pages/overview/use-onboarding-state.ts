import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createApi } from '../../api/client.ts';
import type { List } from '../../api/types.ts';
import { isOnboardingSeen, markOnboardingSeen } from '../../session/local-storage.ts';
import { useServices } from '../../session/services.ts';
import { useWorkspace } from '../../session/workspace.ts';

/** Whether the Organization has neither a bank key nor a subscription. Asked once in a browser, of whoever could make one. */
export function useOnboardingState(): 'unknown' | 'new' | 'done' {
  const { tokens } = useServices();
  const { can, has, organization, session } = useWorkspace();
  const { guid } = organization;
  const [isAsked] = useState(() => can('bank_applications:write') && !isOnboardingSeen(guid));
  const { data, isPending } = useQuery({
    queryKey: ['set-up', guid],
    queryFn: async () => {
      const paths = ['/bank_applications', ...(has('webhooks') ? ['/subscriptions'] : [])];
      const lists = session.environments.flatMap((environment) => {
        const api = createApi(tokens, { organizationGuid: guid, environment });
        return paths.map((path) => api.get<List<unknown>>(path, { query: { per_page: 1 } }));
      });
      return (await Promise.all(lists)).every(({ objects }) => objects.length === 0);
    },
    enabled: isAsked,
  });
  useEffect(() => {
    if (data !== undefined) markOnboardingSeen(guid);
  }, [data, guid]);
  if (!isAsked) return 'done';
  if (isPending) return 'unknown';
  // What could not be found out holds nobody up.
  return data ? 'new' : 'done';
}
