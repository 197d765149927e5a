import { type QueryKey, useQueryClient } from '@tanstack/react-query';

/** Completes a change only after the list that shows it is loaded again. */
export function useWithRefresh(listKey: QueryKey) {
  const queries = useQueryClient();
  return async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change;
    await queries.invalidateQueries({ queryKey: listKey });
    return result;
  };
}
