import { useNavigate } from '@tanstack/react-router';
import type { Session } from '../../api/types.ts';
import { useServices } from '../../session/services.ts';
import { replaceSession } from '../../session/session.ts';

/** Replaces the session and continues to the page that required the login. */
export function useCompleteLogin(): (session: Session, next?: string) => void {
  const services = useServices();
  const navigate = useNavigate();
  return (session, next) => {
    replaceSession(services, session);
    void navigate({ to: sameOriginPath(next) ?? '/overview', replace: true });
  };
}

/** Prevents open redirects: `next` can be set by a link from another site. */
function sameOriginPath(next: string | undefined): string | undefined {
  if (next === undefined || !next.startsWith('/')) return undefined;
  const url = URL.parse(next, location.origin);
  return url?.origin === location.origin ? url.pathname + url.search : undefined;
}
