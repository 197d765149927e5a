import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { networkOf } from '../../../infrastructure/rate-limits/address.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { People } from '../../members/people.ts';
import { actorOf, type From } from '../entry.ts';
import type { LoginLimits } from '../limits/limits.ts';
import type { IssuedLink, Links } from '../links/links.ts';
import type { Mail } from '../links/mail.ts';
import { passwordResetMessage } from '../links/messages.ts';
import type { Totp } from '../second-factors/totp.ts';

const REQUESTS_AT_ONCE = 2;
const MAX_WAITING_REQUESTS = 500;
const MAX_WAITING_REQUESTS_PER_NETWORK = 20;

type Deps = {
  database: Database;
  audit: Audit;
  people: People;
  links: Links;
  totp: Totp;
  limits: LoginLimits;
  mail: Mail | undefined;
  supportEmail: string;
  /** The demo on one's own machine has no mail server, and nobody else reads its log. */
  showLinksInLog: boolean;
  log: Log;
};

type LinkBy = 'mail' | 'log' | 'operator';

/** A new password for whoever has lost theirs. */
export function createPasswordResets(deps: Deps) {
  const { database, audit, people, links, totp, limits, mail, supportEmail, showLinksInLog, log } = deps;
  const linkBy: LinkBy = mail ? 'mail' : showLinksInLog ? 'log' : 'operator';
  const queue = createFairQueue({
    atOnce: REQUESTS_AT_ONCE,
    classes: {
      anyone: {
        maxWaiting: MAX_WAITING_REQUESTS,
        maxWaitingPerSource: MAX_WAITING_REQUESTS_PER_NETWORK,
      },
    },
  });

  async function send(email: string, from: From): Promise<void> {
    const person = await people.findByEmail(email);
    if (!person) return;
    if (linkBy === 'operator') {
      await leaveToOperator(actorOf(person.guid, from), person.guid);
      return;
    }
    const { link, expiresAt } = await issue(actorOf(person.guid, from), person.guid);
    mail?.send(passwordResetMessage({ to: person.email, link, expiresAt, supportEmail }));
    if (linkBy === 'log')
      log.info({ email: person.email, address_to_open: link.reveal() }, 'a new password can be set');
  }

  /** No link is made: they hand one over when they know who is asking. */
  async function leaveToOperator(actor: Actor, memberGuid: string): Promise<void> {
    await database.transaction((transaction) =>
      audit.record(transaction, actor, about('account.request_password', memberGuid)),
    );
    log.warn(
      { member_guid: memberGuid },
      'a new password was asked for and there is no mail server: give a link by portico operator members password-reset',
    );
  }

  function issue(actor: Actor, memberGuid: string): Promise<IssuedLink> {
    return database.transaction(async (transaction) => {
      const issued = await links.resetPassword(transaction, memberGuid);
      await audit.record(transaction, actor, about('account.reset_password', memberGuid));
      return issued;
    });
  }

  return {
    linkBy,

    /** Answered before anything is looked up: neither the answer nor its time tells whether the address is known. */
    async request(email: string, from: From): Promise<Failure | undefined> {
      const exhausted = await limits.passwordReset(email, from.address);
      if (exhausted) return exhausted;
      queue
        .run('anyone', networkOf(from.address), () => send(email, from))
        .then((outcome) => {
          if (outcome === SHED) log.warn('dropped a password reset request: too many are waiting');
        })
        .catch((error: unknown) => log.error({ err: error }, 'a link for a new password was not sent'));
      return undefined;
    },

    /** The operator's: the link is theirs to hand over. For who lost their authenticator too, that goes with it. */
    async issueFor(
      actor: Actor,
      memberGuid: string,
      { removeTotp }: { removeTotp: boolean },
    ): Promise<IssuedLink | Failure> {
      if (!(await people.find(memberGuid))) return new Failure('not_found', 'There is no such member');
      if (removeTotp)
        await database.transaction((transaction) => totp.turnOff(transaction, actor, memberGuid));
      return issue(actor, memberGuid);
    },

    idle: queue.idle,
  };
}

function about(action: `account.${string}`, memberGuid: string) {
  return { action, objectType: 'account', objectId: memberGuid } as const;
}
