import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';

export type Log = Logger;
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** Field names of credentials; their values are never logged. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
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
]);
/** A secret is found at the top of an entry and so many levels below. */
const SECRET_DEPTH = 3;

/** The `redact` of pino tries each path on each value, also on texts and numbers: it took most of the time of an entry. */
function hideSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > SECRET_DEPTH || 'toJSON' in value) return value;
  if (Array.isArray(value)) return value.map((entry) => hideSecrets(entry, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRET_NAMES.has(name) ? '[secret]' : hideSecrets(inner, depth + 1),
    ]),
  );
}

function fieldsWithoutSecrets(fields: object): Record<string, unknown> {
  return hideSecrets(fields, 0) as Record<string, unknown>;
}

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
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      // An error has its serializer, because its message and stack are no fields.
      log: ({ err, ...fields }: Record<string, unknown>) => ({
        ...boundedTexts(fieldsWithoutSecrets(fields)),
        ...(err === undefined ? {} : { err }),
      }),
    },
    serializers: { err: (error: Error) => hideSecrets(bounded(pino.stdSerializers.err(error), 0), 1) },
  };
  if (!terminal) return hidingInChildren(pino(options, destination));
  // Loaded only here, because most logs are for machines.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  // Synchronous lines instead of a stream, so that nothing is lost when the process ends.
  const readable = prettyFactory({ colorize: true, translateTime: 'HH:MM:ss', singleLine: true });
  return hidingInChildren(pino(options, { write: (line) => destination.write(readable(line)) }));
}

/** pino applies its formatters to the fields of an entry, not to those that a child log repeats. */
function hidingInChildren(log: Log): Log {
  const child = log.child as unknown as (this: Log, fields: object, options?: object) => Log;
  return Object.assign(log, {
    child(this: Log, fields: object, options?: object) {
      return child.call(this, fieldsWithoutSecrets(fields), options);
    },
  });
}
