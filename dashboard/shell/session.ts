import { type QueryClient, useQuery } from '@tanstack/react-query';
import { people } from '../api/people.ts';
import { Problem } from '../api/problem.ts';
import type { Session } from '../api/types.ts';

export const SESSION_KEY = ['session'] as const;

/** Who is logged in; null when nobody is. */
export function useSession() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000 });
}

async function readSession(): Promise<Session | null> {
  try {
    return await people.session();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    throw error;
  }
}

/** Someone else is logged in now, or nobody: what was fetched before is nobody's business any more. */
export function replaceSession(queries: QueryClient, session: Session | null): void {
  queries.setQueryData(SESSION_KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
