import { useEffect, useState } from 'react';
import type { Session } from '../api/types.ts';
import { useServices } from './services.ts';
import { clearCachedData } from './session.ts';

/**
 * False until the cache is cleared after another user logged in. Tabs share the cookie, so that can happen in another
 * tab.
 */
export function useIsSameMember(session: Session | null | undefined): boolean {
  const services = useServices();
  const guid = session?.member.guid;
  const [known, setKnown] = useState(guid);
  useEffect(() => {
    if (guid === known) return;
    if (known !== undefined) clearCachedData(services);
    setKnown(guid);
  }, [guid, known, services]);
  return known === undefined || known === guid;
}
