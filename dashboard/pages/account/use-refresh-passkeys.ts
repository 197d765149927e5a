import { useQueryClient } from '@tanstack/react-query';
import { SESSION_KEY } from '../../session/services.ts';

export const PASSKEYS_KEY = ['account', 'passkeys'] as const;

/** The session contains the number of passkeys. */
export function useRefreshPasskeys(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await queries.invalidateQueries({ queryKey: PASSKEYS_KEY });
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
}
