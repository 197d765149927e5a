import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Delivery, List } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import type { Redelivery } from '../use-redeliver.ts';
import { MAX_SELECTED } from './use-selection.tsx';

/** Calls at once: the API limits those of an Organization. */
const CONCURRENCY = 4;
const POLL_MS = 1_000;

type Progress = { total: number; created: readonly Delivery[]; errors: readonly Error[] };

export type RedeliveryOfMany = ReturnType<typeof useRedeliverMany>;

/** Redelivers one by one and follows the outcomes. Leaving the page stops the calls that are not made yet. */
export function useRedeliverMany() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  const run = useMutation({
    mutationFn: async (redeliveries: readonly Redelivery[]) => {
      const left = [...redeliveries];
      let made: Progress = { total: redeliveries.length, created: [], errors: [] };
      setProgress(made);
      const work = async () => {
        for (let next = left.shift(); next && isMounted.current; next = left.shift()) {
          const { subscription_event_guid, subscription_guid } = next;
          const body = { subscription_event_guid, subscription_guid };
          const result = await api.post<Delivery>('/subscription_deliveries', body).catch(asError);
          made =
            result instanceof Error
              ? { ...made, errors: [...made.errors, result] }
              : { ...made, created: [...made.created, result] };
          setProgress(made);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, work));
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    },
  });

  const guids = progress?.created.map(({ guid }) => guid).join() ?? '';
  const { data: outcomes } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', 'outcomes', guids],
    queryFn: ({ signal }) =>
      api.get<List<Delivery>>('/subscription_deliveries', {
        query: { guid: guids, per_page: MAX_SELECTED },
        signal,
      }),
    enabled: !run.isPending && guids !== '',
    refetchInterval: ({ state }) => (state.data?.objects.some(isPending) === false ? false : POLL_MS),
  });
  return {
    start: run.mutate,
    isRunning: run.isPending,
    progress,
    outcomes: outcomes?.objects,
    close: () => setProgress(undefined),
  };
}

function isPending({ state, attempt_count: count }: Delivery): boolean {
  return state === 'storing' && count === 0;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
