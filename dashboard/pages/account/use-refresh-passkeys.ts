import { useQueryClient } from '@tanstack/react-query';
import { SESSION_KEY } from '../../session/session.ts';

export const PASSKEYS_KEY = ['account', 'passkeys'] as const;

/** The session too tells how many there are. */
export function useRefreshPasskeys(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await queries.invalidateQueries({ queryKey: PASSKEYS_KEY });
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
}
