import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../../api/types.ts';
import { useServices } from '../../session/services.ts';
import { replaceSession } from '../../session/session.ts';

/** After a login: nothing of whoever was here before, and on to where one was going. */
export function useCompleteLogin(): (session: Session, next?: string) => void {
  const services = useServices();
  const navigate = useNavigate();
  return (session, next) => {
    replaceSession(services, session);
    void navigate({ to: ownPath(next) ?? '/overview', replace: true });
  };
}

/** Only a path of this origin: an address that someone else wrote must not lead away after a login. */
function ownPath(next: string | undefined): string | undefined {
  if (next === undefined || !next.startsWith('/')) return undefined;
  const url = URL.parse(next, location.origin);
  return url?.origin === location.origin ? url.pathname + url.search : undefined;
}
