import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../../infrastructure/idempotency/record-answer.ts';
import { networkOf } from '../../../infrastructure/rate-limits/address.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import { accountChange } from '../../account-change.ts';
import type { People } from '../../members/people.ts';
import type { Members } from '../../members/service.ts';
import type { LoginLimits } from '../limits/limits.ts';
import type { IssuedLink, Links } from '../links/links.ts';
import type { Mail } from '../links/mail.ts';
import { passwordResetMessage } from '../links/messages.ts';
import { type RequestSource, userActor } from '../request-source.ts';
import type { Totp } from '../second-factors/totp.ts';

const MAX_CONCURRENT_REQUESTS = 2;
/** A source is a network. */
const QUEUE_LIMITS = { maxWaiting: 500, maxWaitingPerSource: 20 };

type Deps = {
  database: Database;
  audit: Audit;
  people: People;
  members: Members;
  links: Links;
  totp: Totp;
  limits: LoginLimits;
  mail: Mail | undefined;
  supportEmail: string;
  /** Only for the local demo, which has no mail server. */
  showLinksInLog: boolean;
  log: Log;
};

type LinkBy = 'mail' | 'log' | 'operator';

/** Password reset links, by mail or from the operator. */
export function createPasswordResets(deps: Deps) {
  const { database, audit, people, members, links, totp, limits, mail, supportEmail, showLinksInLog, log } =
    deps;
  const linkBy: LinkBy = mail ? 'mail' : showLinksInLog ? 'log' : 'operator';
  const queue = createFairQueue({
    atOnce: MAX_CONCURRENT_REQUESTS,
    classes: { anyone: QUEUE_LIMITS },
  });

  async function send(email: string, source: RequestSource): Promise<void> {
    const person = await people.findByEmail(email);
    if (!person) return;
    const actor = userActor(person.guid, source);
    if (linkBy === 'operator') return notifyOperator(actor, person.guid);
    const { link, expiresAt } = await database.transaction((transaction) =>
      issue(transaction, actor, person.guid),
    );
    mail?.send(passwordResetMessage({ to: person.email, link, expiresAt, supportEmail }));
    if (linkBy === 'log')
      log.info({ email: person.email, address_to_open: link.reveal() }, 'password reset link issued');
  }

  /** Issues no link: the operator does so after verifying the person. */
  async function notifyOperator(actor: Actor, memberGuid: string): Promise<void> {
    await database.transaction((transaction) =>
      audit.record(transaction, actor, accountChange('account.request_password', memberGuid)),
    );
    log.warn(
      { member_guid: memberGuid },
      'password reset requested without a mail server; issue a link with portico operator members password-reset',
    );
  }

  async function issue(transaction: Transaction, actor: Actor, memberGuid: string): Promise<IssuedLink> {
    const issued = await links.issue(transaction, memberGuid, null);
    await audit.record(transaction, actor, accountChange('account.reset_password', memberGuid));
    return issued;
  }

  return {
    linkBy,

    /** Returns before the lookup, so that neither response nor timing reveals whether the address is known. */
    async request(email: string, source: RequestSource): Promise<Failure | undefined> {
      const exhausted = await limits.passwordReset(email, source.address);
      if (exhausted) return exhausted;
      queue
        .run('anyone', networkOf(source.address), () => send(email, source))
        .then((outcome) => {
          if (outcome === SHED) log.warn('dropped a password reset request: queue full');
        })
        .catch((error: unknown) => log.error({ err: error }, 'password reset failed'));
      return undefined;
    },

    /** For the operator, who passes the link on. `removeTotp` is for members who lost their authenticator. */
    async issueFor(
      actor: Actor,
      memberGuid: string,
      { removeTotp }: { removeTotp: boolean },
      recordAnswer: RecordAnswer<IssuedLink> = recordNothing,
    ): Promise<IssuedLink | Failure> {
      if (!(await people.find(memberGuid))) return new Failure('not_found', 'There is no such member');
      return database.transaction(async (transaction) => {
        const moving = await members.checkMoving(transaction, memberGuid);
        if (moving) return moving;
        // The login before the link, as the use of a link locks them.
        if (removeTotp) await totp.turnOff(transaction, actor, memberGuid);
        const issued = await issue(transaction, actor, memberGuid);
        await recordAnswer(transaction, issued);
        return issued;
      });
    },

    idle: queue.idle,
  };
}
