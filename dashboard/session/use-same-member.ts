import { useEffect, useState } from 'react';
import type { Session } from '../api/types.ts';
import { useServices } from './services.ts';
import { clearCachedData } from './session.ts';

/**
 * Another tab shares the cookie: there somebody else may have logged in. What was fetched for the one before is
 * forgotten first; until then it is not this person's page.
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
