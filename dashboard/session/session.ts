import { useQuery } from '@tanstack/react-query';
import { accountApi } from '../api/account.ts';
import { ApiError } from '../api/api-error.ts';
import type { Session } from '../api/types.ts';
import type { Services } from './services.ts';

export const SESSION_KEY = ['session'] as const;

/** Who is logged in; null when nobody is. */
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

/** Someone else is logged in now, or nobody: what was fetched before is nobody's business any more. */
export function clearCachedData({ tokens, queries }: Services): void {
  tokens.forget();
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
