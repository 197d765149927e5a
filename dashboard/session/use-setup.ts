import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Application, Delivery, Environment, List, Subscription } from '../api/types.ts';
import { isSetupDone, markSetupDone } from './local-storage.ts';
import { useEnvironmentApi } from './use-environment-api.ts';
import { useWorkspace } from './workspace.ts';

/** What of the setup exists. */
export type Setup = {
  /** Neither a key nor a subscription exists, in any environment. */
  isNew: boolean;
  /** Of the sandbox. */
  key: Application | undefined;
  subscription: Subscription | undefined;
  isDelivered: boolean;
  /** A key that has got a token. */
  usedKey: Application | undefined;
};

const PER_PAGE = 100;
const DELIVERING: readonly string[] = ['active', 'storing'];
const isSandbox = ({ environment }: { environment: Environment }) => environment === 'sandbox';

type Options = { enabled: boolean; refetchInterval?: number | false };

function useSetupQuery({ enabled, refetchInterval = false }: Options): UseQueryResult<Setup> {
  const { has, organization, session } = useWorkspace();
  const apiOf = useEnvironmentApi();
  return useQuery({
    queryKey: ['setup', organization.guid],
    enabled,
    refetchInterval,
    queryFn: async () => {
      /** With the environment of each. */
      const read = async <Item>(path: string) => {
        const query = { per_page: PER_PAGE };
        const lists = session.environments.map(async (environment) => {
          const { objects } = await apiOf(environment).get<List<Item>>(path, { query });
          return objects.map((object) => ({ ...object, environment }));
        });
        return (await Promise.all(lists)).flat();
      };
      const [keys, subscriptions, delivered] = await Promise.all([
        read<Application>('/bank_applications'),
        has('webhooks') ? read<Subscription>('/subscriptions') : [],
        has('webhooks')
          ? apiOf('sandbox').get<List<Delivery>>('/subscription_deliveries', {
              query: { state: 'completed', per_page: 1 },
            })
          : undefined,
      ]);
      return {
        isNew: keys.length === 0 && subscriptions.length === 0,
        key: keys.find(isSandbox),
        subscription: subscriptions.find((one) => isSandbox(one) && DELIVERING.includes(one.state)),
        isDelivered: (delivered?.objects.length ?? 0) > 0,
        usedKey: keys.find(({ last_used_at: at }) => at !== undefined),
      };
    },
  });
}

/** Reads what exists, for roles that can create keys. */
export function useSetup(options: Options): UseQueryResult<Setup> {
  const { has, organization } = useWorkspace();
  const result = useSetupQuery(options);
  const isDone = result.data !== undefined && isComplete(result.data, has('webhooks'));
  useEffect(() => {
    if (isDone) markSetupDone(organization.guid);
  }, [isDone, organization.guid]);
  return result;
}

/** Without requests of its own: the overview and the setup itself read what exists. */
export function useIsSetupDone(): boolean {
  const { has, organization } = useWorkspace();
  const { data } = useSetupQuery({ enabled: false });
  return isSetupDone(organization.guid) || (data !== undefined && isComplete(data, has('webhooks')));
}

function isComplete({ usedKey, isDelivered }: Setup, hasWebhooks: boolean): boolean {
  return usedKey !== undefined && (isDelivered || !hasWebhooks);
}
