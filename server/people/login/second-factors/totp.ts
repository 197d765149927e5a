import { createHash } from 'node:crypto';
import { TOTP, Secret as TotpSecret } from 'otpauth';
import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import type { Person } from '../../members/people.ts';
import * as store from '../login-store.ts';

export type Totp = ReturnType<typeof createTotp>;

/** What every authenticator app understands (RFC 6238): SHA-1, six digits, half a minute. */
const ISSUER = 'Portico';
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const STEP_SECONDS = 30;
/** A clock may be a step ahead or behind. */
const STEPS_AROUND = 1;
/** 160 bits, as RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits: enough that a plain hash keeps it. */
const RECOVERY_CODE_BYTES = 10;
const REENCRYPTED_AT_ONCE = 500;
const CODE = /^\d{6}$/;

type Deps = {
  database: Database;
  clock: Clock;
  audit: Audit;
  encryption: Encryption;
  randomBytes: RandomBytes;
};

/** The second factor: codes of an authenticator app, each good once, and recovery codes for the day it is lost. */
export function createTotp({ database, clock, audit, encryption, randomBytes }: Deps) {
  /** The step that the code is of; undefined when it is of none near now. */
  function stepOf(login: store.Login, code: string): number | undefined {
    if (login.totp_secret_encrypted === null || !CODE.test(code)) return undefined;
    const secret = encryption.decrypt(login.totp_secret_encrypted, contextOf(login.member_guid));
    const timestamp = clock.now().getTime();
    const delta = appFor(secret).validate({ token: code, timestamp, window: STEPS_AROUND });
    return delta === null ? undefined : Math.floor(timestamp / 1_000 / STEP_SECONDS) + delta;
  }

  return {
    isOn: (login: store.Login | undefined) => login !== undefined && login.totp_confirmed_at !== null,

    /** Uses the code up: the same one is not accepted again, nor one from before it. */
    async check(login: store.Login, code: string): Promise<boolean> {
      const step = stepOf(login, code);
      if (step !== undefined) return store.useStep(database.authentication.queries, login.member_guid, step);
      return store.useRecoveryCode(database.authentication.queries, login.member_guid, hashOfCode(code));
    },

    /** Not on before a code has shown that the app has the secret. */
    begin({ guid, email }: Person): Promise<{ secret: string; uri: string } | Failure> {
      return database.authentication.transaction(async (transaction) => {
        const login = await store.lockLogin(transaction, guid, clock.now());
        if (login.totp_confirmed_at !== null)
          return new Failure('totp_enabled', 'One-time passwords are on already; turn them off first');
        const secret = base32Of(randomBytes(SECRET_BYTES));
        await store.updateLogin(transaction, guid, {
          totp_secret_encrypted: encryption.encrypt(secret, contextOf(guid)),
          updated_at: clock.now(),
        });
        return { secret, uri: appFor(secret, email).toString() };
      });
    },

    /** With the login locked. The recovery codes, shown this once. */
    async confirm(
      transaction: Transaction,
      actor: Actor,
      login: store.Login,
      code: string,
    ): Promise<string[] | Failure> {
      const { member_guid: guid } = login;
      if (login.totp_confirmed_at !== null)
        return new Failure('totp_enabled', 'One-time passwords are on already');
      const step = stepOf(login, code);
      if (step === undefined)
        return new Failure('code_incorrect', 'The code is not the one that is shown now');
      const codes = Array.from({ length: RECOVERY_CODES }, () => recoveryCode(randomBytes));
      await store.updateLogin(transaction, guid, {
        totp_confirmed_at: clock.now(),
        totp_step: step,
        recovery_code_hashes: codes.map(hashOfCode),
        updated_at: clock.now(),
      });
      await audit.record(transaction, actor, about('account.enable_totp', guid));
      return codes;
    },

    async turnOff(transaction: Transaction, actor: Actor, guid: string): Promise<void> {
      const login = await store.lockLogin(transaction, guid, clock.now());
      const off = { totp_secret_encrypted: null, totp_confirmed_at: null, recovery_code_hashes: [] };
      await store.updateLogin(transaction, guid, { ...off, updated_at: clock.now() });
      if (login.totp_confirmed_at !== null)
        await audit.record(transaction, actor, about('account.disable_totp', guid));
    },

    /** Moves every secret to the current master key; how many had to move. */
    async reencrypt(transaction: Transaction): Promise<number> {
      let total = 0;
      for (let after: string | undefined; ; ) {
        const stored = await store.selectTotpSecretsForUpdate(transaction, after, REENCRYPTED_AT_ONCE);
        const moved = stored.flatMap(({ member_guid, totp_secret_encrypted: encrypted }) => {
          const renewed = encryption.reencrypt(encrypted, contextOf(member_guid));
          return renewed ? [{ member_guid, totp_secret_encrypted: renewed }] : [];
        });
        if (moved.length > 0) await store.updateTotpSecrets(transaction, moved);
        total += moved.length;
        if (stored.length < REENCRYPTED_AT_ONCE) return total;
        after = stored.at(-1)?.member_guid;
      }
    },
  };
}

function appFor(secret: string, label = ISSUER): TOTP {
  const rules = { algorithm: ALGORITHM, digits: DIGITS, period: STEP_SECONDS };
  return new TOTP({ issuer: ISSUER, label, secret: TotpSecret.fromBase32(secret), ...rules });
}

function base32Of(bytes: Uint8Array): string {
  return new TotpSecret({ buffer: Uint8Array.from(bytes).buffer }).base32;
}

function recoveryCode(randomBytes: RandomBytes): string {
  const text = base32Of(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
  return text.replaceAll(/.{4}(?=.)/g, '$&-');
}

/** However it was typed: with capitals, with blanks, without the dashes. */
function hashOfCode(code: string): string {
  const typed = code.toLowerCase().replaceAll(/[^a-z2-7]/g, '');
  return createHash('sha256').update(typed).digest('hex');
}

function contextOf(memberGuid: string): string {
  return `totp:${memberGuid}`;
}

function about(action: `account.${string}`, memberGuid: string) {
  return { action, objectType: 'account', objectId: memberGuid } as const;
}
