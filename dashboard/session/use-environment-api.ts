import { use } from 'react';
import { type Api, createApi } from '../api/client.ts';
import type { Environment } from '../api/types.ts';
import { ProofContext } from '../auth/proof.tsx';
import { useWorkspace } from './workspace.ts';

/** Calls the API in an environment, whatever bank is selected. */
export function useEnvironmentApi(): (environment: Environment) => Api {
  const { organization, tokens } = useWorkspace();
  const requestProof = use(ProofContext);
  return (environment) =>
    createApi(tokens, { organizationGuid: organization.guid, environment }, requestProof);
}
