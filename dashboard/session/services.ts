import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { ApiError } from '../api/api-error.ts';
import { createTokens, type Tokens } from '../api/tokens.ts';

export type Services = { tokens: Tokens; queries: QueryClient };

export const SESSION_KEY = ['session'] as const;
const MAX_RETRIES = 2;
const FRESH_FOR_MS = 5_000;

export function createServices(): Services {
  /** The session may have ended, or the role changed: reload the session. */
  const onError = (error: unknown) => {
    if (queries.getQueryData(SESSION_KEY) === null) return;
    if (error instanceof ApiError && (error.status === 401 || error.code === 'invalid_scopes'))
      void queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The default holds calls back while the browser is offline and makes them when it returns, however much later.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: FRESH_FOR_MS,
        retry: (count, error) => count < MAX_RETRIES && !isClientError(error),
      },
    },
  });
  return { tokens: createTokens(), queries };
}

function isClientError(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (!services) throw new Error('useServices is used outside of ServicesContext');
  return services;
}
