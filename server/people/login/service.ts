import type { Organizations } from '../../credentials/organizations/service.ts';
import type { FailedAuthentications } from '../../infrastructure/audit/failed-authentications.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Timers } from '../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Issuer } from '../../tokens/issuing/issuer.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { People } from '../members/people.ts';
import type { Members } from '../members/service.ts';
import { createSavedFilters } from '../saved-filters/service.ts';
import { createAccounts } from './accounts.ts';
import { createAuthentication } from './authentication.ts';
import { createFailedAttempts } from './limits/failed-attempts.ts';
import { createLoginLimits } from './limits/limits.ts';
import { createNetworks } from './limits/networks.ts';
import { createInvitations } from './links/invitations.ts';
import { createLinks } from './links/links.ts';
import { createMail } from './links/mail.ts';
import { createLogins } from './logins.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { createPasswordResets } from './passwords/password-resets.ts';
import { createPasswords, type PasswordHasher } from './passwords/passwords.ts';
import { createProofs } from './proofs/proofs.ts';
import { createTotp } from './second-factors/totp.ts';
import { createSessions } from './sessions/sessions.ts';

export type LoginModule = ReturnType<typeof createLoginModule>;

type LoginSettings = {
  baseUrl: string;
  supportEmail: string;
  smtpUrl: Secret | undefined;
  mailFrom: string | undefined;
  rateLimitLoginPerEmail: number;
  rateLimitLoginPerAddress: number;
  demo: boolean;
  databaseUrl: Secret | undefined;
  exposure: object | undefined;
};

type Deps = Base & {
  settings: LoginSettings;
  timers: Timers;
  randomBytes: RandomBytes;
  encryption: Encryption;
  rateLimits: RateLimits;
  organizations: Organizations;
  people: People;
  members: Members;
  issuer: Issuer;
  revocations: Revocations;
  failedAuthentications: FailedAuthentications;
  /** Default: Argon2. Tests replace it. */
  passwordHasher?: PasswordHasher | undefined;
};

export function createLoginModule({ settings, rateLimits, ...deps }: Deps) {
  const { baseUrl, supportEmail, demo, databaseUrl, exposure } = settings;
  const limits = createLoginLimits({ rateLimits, limits: settings });
  const mail = createMail({ ...deps, smtpUrl: settings.smtpUrl, from: settings.mailFrom });
  const passwords = createPasswords(deps.passwordHasher);
  const networks = createNetworks(deps);
  const sessions = createSessions({ ...deps, networks });
  const links = createLinks({ ...deps, baseUrl });
  const logins = createLogins({ ...deps, sessions });
  const totp = createTotp({ ...deps, logins });
  const passkeys = createPasskeys({ ...deps, logins, sessions, baseUrl });
  const failedAttempts = createFailedAttempts(deps);
  const loginMethods = { logins, passwords, totp, passkeys, sessions, limits, failedAttempts };
  const proofs = createProofs({ ...deps, ...loginMethods });
  const authentication = createAuthentication({ ...deps, ...loginMethods, proofs, networks });
  const accounts = createAccounts({ ...deps, ...loginMethods, links, authentication, proofs });
  const invitations = createInvitations({ ...deps, links, mail, limits, supportEmail });
  const passwordResets = createPasswordResets({
    ...deps,
    ...{ links, totp, limits, mail, supportEmail },
    showLinksInLog: demo && databaseUrl === undefined && exposure === undefined,
  });

  return {
    /** Undefined without a mail server. */
    mail,
    limits,
    sessions,
    totp,
    passkeys,
    authentication,
    proofs,
    accounts,
    invitations,
    passwordResets,
    savedFilters: createSavedFilters(deps),

    /** Deletes expired rows. */
    async sweep(): Promise<void> {
      await sessions.sweep();
      await links.sweep();
      await passkeys.sweep();
      await networks.sweep();
    },

    async close(): Promise<void> {
      await passwordResets.idle();
      await mail?.close();
    },
  };
}
