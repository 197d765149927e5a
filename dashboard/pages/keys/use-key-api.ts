import type { Application, CreatedApplication } from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useWithRefresh } from '../../shared/table/use-with-refresh.ts';
import type { KeyKind } from './scopes/read-scopes.ts';

export type KeyDialogProps = { kind: KeyKind; application: Application; onClose: () => void };
export type KeyInput = { name: string; scopes: string[]; ip_allowlist: string[] };
type NewKeyInput = KeyInput & { replaces_client_id?: string };

/**
 * Organization keys work in both environments. Once the Organization has a production bank, only a production token may
 * change them, so they are always called with one.
 */
export function useKeyApi(kind: KeyKind) {
  const { api: selected, bank, can } = useWorkspace();
  const apiOf = useEnvironmentApi();
  const api = kind === 'bank' ? selected : apiOf('production');
  const path = `/${kind}_applications`;
  const listKey = [selected.key, path] as const;
  const withRefresh = useWithRefresh(listKey);
  return {
    path,
    listKey,
    canWrite: can(`${kind}_applications:write`),
    create: (input: NewKeyInput) =>
      withRefresh(
        api.post<CreatedApplication>(path, kind === 'bank' ? { ...input, bank_guid: bank?.guid } : input),
      ),
    get: (clientId: string) => api.get<Application>(`${path}/${clientId}`),
    update: (clientId: string, changes: Partial<KeyInput>) =>
      withRefresh(api.patch<Application>(`${path}/${clientId}`, changes)),
    remove: (clientId: string) => withRefresh(api.remove(`${path}/${clientId}`)),
  };
}
