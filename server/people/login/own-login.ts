import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Failure } from '../../infrastructure/runtime/failure.ts';
import { type Login, lockLogin } from './login-store.ts';
import type { Session, Sessions } from './sessions/sessions.ts';

export type OwnLogin = ReturnType<typeof createOwnLogin>;

type Deps = { database: Database; clock: Clock; sessions: Sessions };

/** Changes that people make to how they log in. */
export function createOwnLogin({ database, clock, sessions }: Deps) {
  return {
    /**
     * One at a time for each person, and only while the session is there that asks. What was looked at before the lock
     * may be of yesterday: a new password by a link has ended the session, and must not be undone by what it had begun.
     */
    change<Outcome>(
      session: Session,
      work: (transaction: Transaction, login: Login) => Promise<Outcome | Failure>,
    ): Promise<Outcome | Failure> {
      return database.authentication.transaction(async (transaction) => {
        const login = await lockLogin(transaction, session.member_guid, clock.now());
        return (await sessions.checkActive(transaction, session)) ?? work(transaction, login);
      });
    },
  };
}
