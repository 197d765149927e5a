import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { RowChanges } from '../../infrastructure/database/tables.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Members } from '../members/service.ts';
import * as store from './login-store.ts';
import type { Session, Sessions } from './sessions/sessions.ts';

export type { Login } from './login-store.ts';
export type Logins = ReturnType<typeof createLogins>;

type Deps = { database: Database; clock: Clock; sessions: Sessions; members: Members };

/** Logins: the password hash and TOTP settings of each member. */
export function createLogins({ database, clock, sessions, members }: Deps) {
  const { queries } = database.authentication;

  /** Creates the row if it is missing. */
  function lock(transaction: Transaction, memberGuid: string): Promise<store.Login> {
    return store.lockLogin(transaction, memberGuid, clock.now());
  }

  return {
    find: (memberGuid: string) => store.selectLogin(queries, memberGuid),

    /** Blocks a password change until the transaction ends. */
    lockForShare: store.selectLoginForShare,

    lock,

    update: (transaction: Transaction, memberGuid: string, changes: RowChanges<'logins'>) =>
      store.updateLogin(transaction, memberGuid, { ...changes, updated_at: clock.now() }),

    /** For changes of other credentials: a person who knew only the old ones may have begun the authenticator. */
    clearPendingTotp: (transaction: Transaction, memberGuid: string) =>
      store.clearPendingTotp(transaction, memberGuid, clock.now()),

    /**
     * Changes the login of a session's member under its row lock, if the session still exists. A password reset ends the
     * session, so a change that began before the reset cannot undo it.
     */
    changeInSession<Outcome>(
      session: Session,
      change: (transaction: Transaction, login: store.Login) => Promise<Outcome | Failure>,
    ): Promise<Outcome | Failure> {
      return database.authentication.transaction(async (transaction) => {
        const login = await lock(transaction, session.member_guid);
        const refused =
          (await sessions.checkActive(transaction, session)) ??
          (await members.checkMoving(transaction, session.member_guid));
        return refused ?? change(transaction, login);
      });
    },
  };
}
