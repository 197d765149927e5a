import { isCidrOrAddress } from '../network/source-address.ts';
import { Secret } from '../runtime/secret.ts';

/** Returns the value or throws an Error whose message completes "PORTICO_X …". */
export type Parse<T> = (text: string) => T;

export const text: Parse<string> = (value) => value;

export const secret: Parse<Secret> = (value) => new Secret(value);

/** Sent as the credentials of a header, which allow no other characters. */
export const bearerToken: Parse<Secret> = (value) => {
  if (!/^[\x21-\x7e]{32,512}$/.test(value))
    throw new Error('must have 32 to 512 printable ASCII characters without spaces');
  return new Secret(value);
};

/** Sent in a header. */
export const passphrase: Parse<Secret> = (value) => {
  if (!/^[\x20-\x7e]{32,}$/.test(value)) throw new Error('must have at least 32 printable ASCII characters');
  return new Secret(value);
};

export const boolean: Parse<boolean> = (value) => {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new Error('must be true or false');
};

export function integer(minimum: number, maximum: number): Parse<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= minimum && number <= maximum))
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    return number;
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Parse<T> {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return found;
  };
}

/** An origin: scheme, host and port, without path or trailing slash. */
export const origin: Parse<string> = (value) => {
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https URL');
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    throw new Error('must consist of scheme, host and port, for example https://api.example.com');
  return url.origin;
};

export const databaseUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol))
    throw new Error('must have the form postgresql://user:password@host:5432/database');
  return new Secret(value);
};

export const smtpUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value);
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('must have the form smtp://user:password@host:587 or smtps://user:password@host');
  return new Secret(value);
};

const HOST_AND_PORT = /^(?:\[[^\]]+\]|[^:/]+):(?<port>\d{1,5})$/;
const MAX_PORT = 65_535;

export const socketAddress: Parse<string> = (value) => {
  const port = Number(HOST_AND_PORT.exec(value)?.groups?.port);
  if (!value.startsWith('/') && !(port >= 1 && port <= MAX_PORT))
    throw new Error('must be host:port or the path of a Unix socket');
  return value;
};

export const emailAddress: Parse<string> = (value) => {
  if (!/^[^\s@]+@[^\s@]+$/.test(value)) throw new Error('must be an email address');
  return value;
};

export const addressRanges: Parse<readonly string[]> = (value) => {
  const entries = listOf(value);
  const wrong = entries.filter((entry) => !isCidrOrAddress(entry));
  if (wrong.length > 0)
    throw new Error(`must be addresses or CIDR ranges, separated by commas, not ${wrong.join(', ')}`);
  return Object.freeze(entries);
};

const MASTER_KEY_PATTERN = /^[0-9a-f]{64}$/i;

/** Newest first; the older ones only decrypt. */
export const masterKeys: Parse<readonly Secret[]> = (value) => {
  const entries = listOf(value);
  if (entries.length === 0 || !entries.every((entry) => MASTER_KEY_PATTERN.test(entry)))
    throw new Error('must be 64 hex characters, or several such keys separated by commas, the newest first');
  return Object.freeze(entries.map((entry) => new Secret(entry)));
};

const DURATION_PATTERN = /^(\d{1,9})(ms|s|m|h)$/;
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

export function durationMs(minimumMs: number, maximumMs: number): Parse<number> {
  return (value) => {
    const match = DURATION_PATTERN.exec(value);
    const ms = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : Number.NaN;
    if (!(ms >= minimumMs && ms <= maximumMs))
      throw new Error(
        `must be a duration such as 30s or 10m, from ${minimumMs / 1000} s to ${maximumMs / 1000} s`,
      );
    return ms;
  };
}

function listOf(value: string): string[] {
  return value.split(/[\s,]+/).filter((entry) => entry !== '');
}
