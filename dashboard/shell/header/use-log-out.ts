import { accountApi } from '../../api/account.ts';
import { useServices } from '../../session/services.ts';
import { isLoggedOut, replaceSession } from '../../session/session.ts';
import { notifyFailure } from '../../shared/feedback/notify.ts';

export function useLogOut(): () => void {
  const services = useServices();
  const clear = () => replaceSession(services, null);
  return () => {
    accountApi
      .logOut()
      .then(clear, (error) => (isLoggedOut(error) ? clear() : notifyFailure('Could not log out')(error)));
  };
}
