import { scopesFor } from '../../../../server/tokens/scopes.ts';

export type KeyKind = 'bank' | 'organization';

export function readScopesOf(kind: KeyKind): string[] {
  return scopesFor(kind).filter((scope) => scope.endsWith(':read'));
}
