import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createApi } from '../../api/client.ts';
import type { List } from '../../api/types.ts';
import { isOnboardingSeen, markOnboardingSeen } from '../../session/local-storage.ts';
import { useServices } from '../../session/services.ts';
import { useWorkspace } from '../../session/workspace.ts';

/** `new`: the Organization has no bank key and no subscription. Checked once per browser, for roles that can create keys. */
export function useOnboardingState(): 'unknown' | 'new' | 'done' {
  const { tokens } = useServices();
  const { can, has, organization, session } = useWorkspace();
  const { guid } = organization;
  const [isChecked] = useState(() => can('bank_applications:write') && !isOnboardingSeen(guid));
  const { data, isPending } = useQuery({
    queryKey: ['onboarding', guid],
    queryFn: async () => {
      const paths = ['/bank_applications', ...(has('webhooks') ? ['/subscriptions'] : [])];
      const lists = session.environments.flatMap((environment) => {
        const api = createApi(tokens, { organizationGuid: guid, environment });
        return paths.map((path) => api.get<List<unknown>>(path, { query: { per_page: 1 } }));
      });
      return (await Promise.all(lists)).every(({ objects }) => objects.length === 0);
    },
    enabled: isChecked,
  });
  useEffect(() => {
    if (data !== undefined) markOnboardingSeen(guid);
  }, [data, guid]);
  if (!isChecked) return 'done';
  if (isPending) return 'unknown';
  // An error must not keep the user from the overview.
  return data ? 'new' : 'done';
}
