import { accountApi } from '../../api/account.ts';
import { useServices } from '../../session/services.ts';
import { isLoggedOut, replaceSession } from '../../session/session.ts';
import { notifyError } from '../../shared/feedback/notify.ts';

/** Ends the session on the server, then forgets everything that was fetched with it. */
export function useLogOut(): () => void {
  const services = useServices();
  const leave = () => replaceSession(services, null);
  return () => {
    // A session that was over already is what was asked for.
    accountApi.logOut().then(leave, (error) => (isLoggedOut(error) ? leave() : notifyError(error)));
  };
}
