import { useQueryClient } from '@tanstack/react-query';
import { useRefreshSession } from '../../session/session.ts';

export const PASSKEYS_KEY = ['account', 'passkeys'] as const;

/** The session contains the number of passkeys. */
export function useRefreshPasskeys(): () => Promise<void> {
  const queries = useQueryClient();
  const refreshSession = useRefreshSession();
  return async () => {
    await queries.invalidateQueries({ queryKey: PASSKEYS_KEY });
    await refreshSession();
  };
}
