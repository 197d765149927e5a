import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { type Customer, customerLabel } from './customer-name.ts';

/** The labels of customers by guid, once they are loaded. */
export function useCustomerNames(guids: readonly string[]): ReadonlyMap<string, string> {
  const { api } = useWorkspace();
  const wanted = [...new Set(guids)].sort();
  const { data } = useQuery({
    queryKey: [api.key, '/customers', 'named', wanted],
    queryFn: ({ signal }) =>
      api.get<List<Customer>>('/customers', {
        query: { guid: wanted.join(','), per_page: wanted.length },
        signal,
      }),
    placeholderData: keepPreviousData,
    enabled: wanted.length > 0,
  });
  return new Map(data?.objects.map((customer) => [customer.guid, customerLabel(customer)]));
}
