import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { ApiError } from '../api/api-error.ts';
import { createTokens, type Tokens } from '../api/tokens.ts';
import { SESSION_KEY } from './session.ts';

/** Made once for the page; whoever logs out leaves nothing of it behind. */
export type Services = { tokens: Tokens; queries: QueryClient };

const MAX_RETRIES = 2;
const FRESH_FOR_MS = 5_000;

export function createServices(): Services {
  /** The session may be over, or the role another one by now: who is logged in is asked anew. */
  const onError = (error: unknown) => {
    if (error instanceof ApiError && (error.status === 401 || error.code === 'invalid_scopes'))
      void queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_FOR_MS,
        // What the service refused, it will refuse again; a network that is away may come back.
        retry: (count, error) => count < MAX_RETRIES && !(error instanceof ApiError && isFinal(error)),
      },
    },
  });
  return { tokens: createTokens(), queries };
}

function isFinal({ status }: ApiError): boolean {
  return status >= 400 && status < 500;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (!services) throw new Error('useServices is used outside of ServicesContext');
  return services;
}
