import { useQuery } from '@tanstack/react-query';
import type { Application } from '../../api/types.ts';
import type { KeyKind } from './scopes/read-scopes.ts';
import { useKeyApi } from './use-key-api.ts';

/** A rotation that is in progress: both key pairs exist. */
export type Rotation = { old: Application; replacement: Application };

/** Finds the rotation of a key pair on this page, as the old one or as its replacement. */
export function useRotations(
  kind: KeyKind,
  page: readonly Application[],
): (application: Application) => Rotation | undefined {
  const keyApi = useKeyApi(kind);
  const elsewhere = page.flatMap(({ replaces_client_id: old }) =>
    old === undefined || page.some(({ client_id }) => client_id === old) ? [] : old,
  );
  const { data = [] } = useQuery({
    queryKey: [...keyApi.listKey, 'replaced', elsewhere],
    queryFn: () => Promise.all(elsewhere.map(keyApi.get)),
    enabled: elsewhere.length > 0,
  });
  const all = [...page, ...data];
  return ({ client_id: clientId }) => {
    const replacement = page.find(
      (each) =>
        each.replaces_client_id !== undefined && [each.client_id, each.replaces_client_id].includes(clientId),
    );
    const old = all.find((each) => each.client_id === replacement?.replaces_client_id);
    return replacement && old ? { old, replacement } : undefined;
  };
}
