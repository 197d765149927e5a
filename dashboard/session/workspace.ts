import { createContext, use } from 'react';
import type { Api } from '../api/client.ts';
import type { Can } from '../api/permissions.ts';
import type { Bank, Environment, Feature, Organization, Session } from '../api/types.ts';

/** What every page looks at: one Organization, one of its banks and so one environment, as one person. */
export type Workspace = {
  session: Session;
  organization: Organization;
  can: Can;
  /** What the Organization was given by the operator. */
  has(feature: Feature): boolean;
  banks: readonly Bank[];
  bank: Bank | undefined;
  environment: Environment;
  api: Api;
  /** A second factor is required for every page but one's own account, and was not given. */
  isLocked: boolean;
  chooseBank(bank: Bank): void;
  chooseOrganization(guid: string): void;
};

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (!workspace) throw new Error('useWorkspace is used outside of a workspace');
  return workspace;
}
