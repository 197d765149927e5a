import { scopesFor } from '../../../server/tokens/scopes.ts';
import { createApi } from '../../api/client.ts';
import type { Application, CreatedApplication } from '../../api/types.ts';
import { useServices } from '../../session/services.ts';
import { useWorkspace, type Workspace } from '../../session/workspace.ts';

export type KeyKind = 'bank' | 'organization';
/** Of every dialog about one key. */
export type KeyDialogProps = { kind: KeyKind; application: Application; onClose: () => void };
export type KeyInput = { name: string; scopes: string[]; ip_allowlist: string[] };

/** What a key begins with: it reads all that its kind can, and changes nothing. */
export function readScopesOf(kind: KeyKind): string[] {
  return scopesFor(kind).filter((scope) => scope.endsWith(':read'));
}

/**
 * The calls for keys of one kind, for the bank that is looked at. Organization keys work in production too, and only a
 * production token changes them once the Organization is there.
 */
export function useKeyApi(kind: KeyKind) {
  const { api: ownApi, organization, bank, can } = useWorkspace();
  const { tokens } = useServices();
  const api =
    kind === 'bank'
      ? ownApi
      : createApi(tokens, { organizationGuid: organization.guid, environment: 'production' });
  const path = `/${kind}_applications`;
  return {
    path,
    mayWrite: can(`${kind}_applications:write`),
    create: (input: KeyInput) =>
      api.post<CreatedApplication>(path, kind === 'bank' ? { ...input, bank_guid: bank?.guid } : input),
    get: (clientId: string) => api.get<Application>(`${path}/${clientId}`),
    update: (clientId: string, input: KeyInput) => api.patch<Application>(`${path}/${clientId}`, input),
    remove: (clientId: string) => api.remove(`${path}/${clientId}`),
  };
}

export type KeyApi = ReturnType<typeof useKeyApi>;

/** What has changed here is read again everywhere. */
export function listKeyOf({ api }: Workspace, { path }: KeyApi): readonly unknown[] {
  return [api.key, path];
}
