import { useQuery, useQueryClient } from '@tanstack/react-query';
import { accountApi } from '../api/account.ts';
import { ApiError } from '../api/api-error.ts';
import type { Session } from '../api/types.ts';
import { SESSION_KEY, type Services } from './services.ts';

/** `data` is null when the user is not logged in. */
export function useSession() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000 });
}

async function readSession(): Promise<Session | null> {
  try {
    return await accountApi.session();
  } catch (error) {
    if (isLoggedOut(error)) return null;
    throw error;
  }
}

export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

export function replaceSession(services: Services, session: Session | null): void {
  services.queries.setQueryData(SESSION_KEY, session);
  clearCachedData(services);
}

/** Removes everything that was fetched for the previous user, except the session itself. */
export function clearCachedData({ tokens, queries }: Services): void {
  tokens.clear();
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

export function useRefreshSession(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: SESSION_KEY });
}
