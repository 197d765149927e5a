import { type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type Log = Logger;
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** Field names of credentials; their values are never logged. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'client_secret',
  'clientSecret',
  'access_token',
  'accessToken',
  'token',
  'signing_key',
  'signingKey',
  'password',
  'secret',
  'masterKey',
  'operatorToken',
  'databaseUrl',
  'data',
];

/** pino redacts by path: each name at the top and up to three levels deep. */
const REDACTED_PATHS = SECRET_NAMES.flatMap((name) => {
  const key = `["${name}"]`;
  return [name.includes('-') ? key : name, `*${key}`, `*.*${key}`, `*.*.*${key}`];
});

/** An error can contain text of a caller. */
const MAX_TEXT_CHARACTERS = 4_096;
const MAX_ENTRIES = 50;
const MAX_LISTED = 10;
const MAX_DEPTH = 3;

function boundedTexts(fields: Record<string, unknown>): Record<string, unknown> {
  const isBounded = Object.values(fields).every((value) => !isTooLong(value));
  return isBounded
    ? fields
    : Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shortened(value)]));
}

/** For a serialised error: plain objects, lists and values. */
function bounded(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return shortened(value);
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map((entry) => bounded(entry, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([name, inner]) => [name, bounded(inner, depth + 1)]));
}

function isTooLong(value: unknown): value is string {
  return typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS;
}

function shortened(value: unknown): unknown {
  return isTooLong(value) ? `${value.slice(0, MAX_TEXT_CHARACTERS)}…` : value;
}

export type LogDestination = { write(line: string): void };

/** Readable lines on a terminal, JSON otherwise. */
export function createLog({
  level,
  terminal,
  destination = process.stdout,
}: {
  level: LogLevel;
  terminal: boolean;
  destination?: LogDestination;
}): Log {
  const options = {
    level,
    base: null,
    redact: { paths: REDACTED_PATHS, censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: boundedTexts },
    serializers: { err: (error: Error) => bounded(pino.stdSerializers.err(error), 0) },
  };
  if (!terminal) return pino(options, destination);
  // Synchronous lines instead of a stream, so that nothing is lost when the process ends.
  const readable = prettyFactory({ colorize: true, translateTime: 'HH:MM:ss', singleLine: true });
  return pino(options, { write: (line) => destination.write(readable(line)) });
}
