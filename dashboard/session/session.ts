import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { accountApi } from '../api/account.ts';
import { ApiError } from '../api/api-error.ts';
import type { Session } from '../api/types.ts';
import { SESSION_KEY, type Services, useServices } from './services.ts';

const ENDED_KEY = [...SESSION_KEY, 'ended'];

/** `data` is null when the user is not logged in. */
export function useSession() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000 });
}

async function readSession({ client }: { client: QueryClient }): Promise<Session | null> {
  try {
    return await accountApi.session();
  } catch (error) {
    if (!isLoggedOut(error)) throw error;
    if (client.getQueryData(SESSION_KEY)) client.setQueryData(ENDED_KEY, true);
    return null;
  }
}

/** Whether the last session of this tab ended other than by logging out. */
export function useHasSessionEnded(): boolean {
  const { data: session } = useSession();
  const { data: hasEnded } = useQuery<boolean>({ queryKey: ENDED_KEY, queryFn: skipToken });
  return hasEnded === true && session === null;
}

/** After the same user has logged in again: loads what failed or changed meanwhile. */
export function useRefreshAfter(hasEnded: boolean): void {
  const { tokens, queries } = useServices();
  const hadEnded = useRef(hasEnded);
  useEffect(() => {
    // Not in the cleanup, which runs while queries still call the API without tokens.
    if (hadEnded.current && !hasEnded)
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
    hadEnded.current = hasEnded;
    return () => {
      if (hasEnded) tokens.clear();
    };
  }, [hasEnded, tokens, queries]);
}

export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** After a login. A session that is still being read is the one before it. */
export function resumeSession({ queries }: Services, session: Session | null): void {
  void queries.cancelQueries({ queryKey: SESSION_KEY });
  queries.setQueryData(SESSION_KEY, session);
  queries.setQueryData(ENDED_KEY, false);
}

/** Like `resumeSession`, for another user or none. */
export function replaceSession(services: Services, session: Session | null): void {
  resumeSession(services, session);
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
