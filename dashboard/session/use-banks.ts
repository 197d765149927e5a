import { useQuery } from '@tanstack/react-query';
import { createApi } from '../api/client.ts';
import type { TokenSource } from '../api/tokens.ts';
import type { Bank, Environment, List } from '../api/types.ts';

const PER_PAGE = 100;
/** The selector lists at most this many pages; the URL can name any bank. */
const MAX_PAGES = 10;

/** The banks of both environments, oldest first within each, sandbox before production. */
export function useBanks(
  organizationGuid: string,
  environments: readonly Environment[],
  { tokens, enabled }: { tokens: TokenSource; enabled: boolean },
) {
  return useQuery({
    queryKey: ['banks', organizationGuid],
    staleTime: 60_000,
    enabled,
    queryFn: async () => {
      const lists = environments.map((environment) => readBanks(tokens, { organizationGuid, environment }));
      return (await Promise.all(lists)).flat();
    },
  });
}

async function readBanks(
  tokens: TokenSource,
  tenancy: { organizationGuid: string; environment: Environment },
): Promise<Bank[]> {
  const api = createApi(tokens, tenancy);
  const banks: Bank[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { per_page: PER_PAGE, after };
    const list = await api.get<List<Bank>>('/banks', { query });
    banks.push(...list.objects.filter(({ environment }) => environment === tenancy.environment));
    if (list.next === undefined) break;
    after = list.next;
  }
  return banks.reverse();
}
