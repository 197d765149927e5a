import { people } from '../api/people.ts';
import { useServices } from '../app/services.tsx';
import { tellProblem } from '../shared/notify.ts';
import { replaceSession } from './session.ts';

/** Ends the session on the server, then forgets everything that was fetched with it. */
export function useLogOut(): () => void {
  const { tokens, queries } = useServices();
  return () => {
    people.logOut().then(() => {
      tokens.forget();
      replaceSession(queries, null);
    }, tellProblem);
  };
}
