import { people } from '../api/people.ts';
import { useServices } from '../app/services.tsx';
import { tellProblem } from '../shared/notify.ts';
import { isLoggedOut, replaceSession } from './session.ts';

/** Ends the session on the server, then forgets everything that was fetched with it. */
export function useLogOut(): () => void {
  const services = useServices();
  const leave = () => replaceSession(services, null);
  return () => {
    // A session that was over already is what was asked for.
    people.logOut().then(leave, (error) => (isLoggedOut(error) ? leave() : tellProblem(error)));
  };
}
