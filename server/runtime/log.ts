import { type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type Log = Logger;
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** Names under which a credential could reach the log by mistake; their values are never written. */
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

export type LogDestination = { write(line: string): void };

/** Readable lines on a terminal, JSON everywhere else. */
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
  };
  if (!terminal) return pino(options, destination);
  // Line by line instead of through a stream, so that nothing is still on its way when the process ends.
  const readable = prettyFactory({ colorize: true, translateTime: 'HH:MM:ss', singleLine: true });
  return pino(options, { write: (line) => destination.write(readable(line)) });
}
