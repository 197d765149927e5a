import { createHash } from 'node:crypto';
import { TOTP, Secret as TotpSecret } from 'otpauth';
import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import { accountChange } from '../../account-change.ts';
import type { Person } from '../../members/people.ts';
import type { Members } from '../../members/service.ts';
import type { Login, Logins } from '../logins.ts';
import * as store from './totp-store.ts';

export type Totp = ReturnType<typeof createTotp>;

/** Parameters that every authenticator app supports (RFC 6238). */
const ISSUER = 'Portico';
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const STEP_SECONDS = 30;
/** Tolerated clock difference of the app, in steps. */
const STEP_WINDOW = 1;
/** 160 bits, as RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
/** From the secret to its confirmation. */
const SETUP_LIFETIME_MS = 10 * 60_000;
const RECOVERY_CODES = 10;
/** 80 bits: too many to guess, so an unsalted fast hash is enough at rest. */
const RECOVERY_CODE_BYTES = 10;
const REENCRYPTION_BATCH = 500;
const CODE = /^\d{6}$/;

type Deps = {
  database: Database;
  clock: Clock;
  audit: Audit;
  encryption: Encryption;
  randomBytes: RandomBytes;
  logins: Logins;
  members: Members;
};

/** TOTP codes of an authenticator app, and recovery codes in case the app is lost. Each code works once. */
export function createTotp({ database, clock, audit, encryption, randomBytes, logins, members }: Deps) {
  const { queries } = database.authentication;

  /** Time step of a code; undefined if the code is not valid now. */
  function stepOf(login: Login, code: string): number | undefined {
    if (login.totp_secret_encrypted === null || !CODE.test(code)) return undefined;
    const secret = encryption.decrypt(login.totp_secret_encrypted, contextOf(login.member_guid));
    const timestamp = clock.now().getTime();
    const delta = totpOf(secret).validate({ token: code, timestamp, window: STEP_WINDOW });
    return delta === null ? undefined : Math.floor(timestamp / 1_000 / STEP_SECONDS) + delta;
  }

  function isPending({ totp_begun_at: begunAt }: Login): boolean {
    return begunAt !== null && clock.now().getTime() - begunAt.getTime() < SETUP_LIFETIME_MS;
  }

  return {
    isOn: (login: Login | undefined) => login !== undefined && login.totp_confirmed_at !== null,

    /** Consumes the code: neither it nor an earlier one is accepted again. */
    async check(login: Login, code: string): Promise<boolean | Failure> {
      const { member_guid: guid } = login;
      const step = stepOf(login, code);
      if (step !== undefined) return store.useStep(queries, guid, step);
      return database.authentication.transaction(async (transaction) => {
        if (!(await store.useRecoveryCode(transaction, guid, hashCode(code)))) return false;
        // An export may have the code as unused.
        return (await members.checkMoving(transaction, guid)) ?? true;
      });
    },

    /** Stores a secret. `confirm` turns TOTP on, once a code shows that the app has the secret. The login must be locked. */
    async begin(
      transaction: Transaction,
      actor: Actor,
      login: Login,
      { guid, email }: Person,
    ): Promise<{ secret: string; uri: string } | Failure> {
      if (login.totp_confirmed_at !== null) return alreadyOn();
      const secret = base32Of(randomBytes(SECRET_BYTES));
      const totp_secret_encrypted = encryption.encrypt(secret, contextOf(guid));
      await logins.update(transaction, guid, { totp_secret_encrypted, totp_begun_at: clock.now() });
      await audit.record(transaction, actor, accountChange('account.begin_totp', guid));
      return { secret, uri: totpOf(secret, email).toString() };
    },

    /** Returns the recovery codes. The login must be locked. */
    async confirm(
      transaction: Transaction,
      actor: Actor,
      login: Login,
      code: string,
    ): Promise<string[] | Failure> {
      const { member_guid: guid } = login;
      if (login.totp_confirmed_at !== null) return alreadyOn();
      if (!isPending(login))
        return new Failure('code_incorrect', 'The setup has expired. Start again with a new secret');
      const step = stepOf(login, code);
      if (step === undefined)
        return new Failure(
          'code_incorrect',
          'The code is incorrect. Enter the code that your authenticator app shows now',
        );
      const codes = Array.from({ length: RECOVERY_CODES }, () => generateRecoveryCode(randomBytes));
      await logins.update(transaction, guid, {
        totp_confirmed_at: clock.now(),
        totp_step: step,
        recovery_code_hashes: codes.map(hashCode),
      });
      await audit.record(transaction, actor, accountChange('account.enable_totp', guid));
      return codes;
    },

    async turnOff(transaction: Transaction, actor: Actor, guid: string): Promise<void> {
      const login = await logins.lock(transaction, guid);
      await logins.update(transaction, guid, {
        totp_secret_encrypted: null,
        totp_begun_at: null,
        totp_confirmed_at: null,
        recovery_code_hashes: [],
      });
      if (login.totp_confirmed_at === null) return;
      await audit.record(transaction, actor, accountChange('account.disable_totp', guid));
      await members.raiseFactorRemoved(transaction, actor, guid, 'authenticator app');
    },

    /** Re-encrypts every secret with the current master key; returns the number of changed secrets. */
    async reencrypt(transaction: Transaction): Promise<number> {
      let total = 0;
      for (let after: string | undefined; ; ) {
        const stored = await store.selectTotpSecretsForUpdate(transaction, after, REENCRYPTION_BATCH);
        const changed = stored.flatMap(({ member_guid, totp_secret_encrypted: encrypted }) => {
          const reencrypted = encryption.reencrypt(encrypted, contextOf(member_guid));
          return reencrypted ? [{ member_guid, totp_secret_encrypted: reencrypted }] : [];
        });
        if (changed.length > 0) await store.updateTotpSecrets(transaction, changed);
        total += changed.length;
        if (stored.length < REENCRYPTION_BATCH) return total;
        after = stored.at(-1)?.member_guid;
      }
    },
  };
}

function alreadyOn(): Failure {
  return new Failure('totp_enabled', 'One-time passwords are already on. Turn them off first');
}

function totpOf(secret: string, label = ISSUER): TOTP {
  const parameters = { algorithm: ALGORITHM, digits: DIGITS, period: STEP_SECONDS };
  return new TOTP({ issuer: ISSUER, label, secret: TotpSecret.fromBase32(secret), ...parameters });
}

function base32Of(bytes: Uint8Array): string {
  return new TotpSecret({ buffer: Uint8Array.from(bytes).buffer }).base32;
}

function generateRecoveryCode(randomBytes: RandomBytes): string {
  const text = base32Of(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
  return text.replaceAll(/.{4}(?=.)/g, '$&-');
}

/** Ignores case, spaces and dashes. */
function hashCode(code: string): string {
  const normalized = code.toLowerCase().replaceAll(/[^a-z2-7]/g, '');
  return createHash('sha256').update(normalized).digest('hex');
}

export function contextOf(memberGuid: string): string {
  return `totp:${memberGuid}`;
}
