import { createContext, use } from 'react';
import type { Api } from '../api/client.ts';
import type { Can } from '../api/permissions.ts';
import type { TokenSource } from '../api/tokens.ts';
import type { Bank, Environment, Feature, Organization, Session } from '../api/types.ts';

/** The selected Organization and bank, with the environment of the bank, and what the user may do there. */
export type Workspace = {
  session: Session;
  organization: Organization;
  can: Can;
  has(feature: Feature): boolean;
  /** Empty until they are loaded. */
  banks: readonly Bank[];
  areBanksLoaded: boolean;
  bank: Bank | undefined;
  environment: Environment;
  api: Api;
  /** None after the end of the session: the page stays mounted, and its polls would go on. */
  tokens: TokenSource;
  /** The Organization requires a second factor, and the user has not confirmed one in this session. */
  isLocked: boolean;
  chooseBank(bank: Bank): void;
  chooseOrganization(guid: string): void;
};

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (!workspace) throw new Error('useWorkspace is used outside of WorkspaceContext');
  return workspace;
}
