import { ApiError, ConfigurationError, ConnectionError } from '../../sdk/src/errors.ts';

const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Documented in docs/partners/cli.md. */
export const EXIT = {
  failure: 1,
  usage: 2,
  authentication: 3,
  permission: 4,
  notFound: 5,
  unreachable: 6,
  /** A check of `doctor`, or a wait that ended without the event. */
  unmet: 7,
  interrupted: 130,
} as const;

/** An error with a message for the user. */
export class CliError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

export class UsageError extends CliError {
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}

type Description = { message: string; exitCode: number };

/** What is printed for any error, and the exit code. */
export function describeError(error: unknown): Description {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ApiError) return { message: describeApiError(error), exitCode: exitCodeOf(error) };
  if (error instanceof ConnectionError) return { message: error.message, exitCode: EXIT.unreachable };
  if (error instanceof ConfigurationError)
    return { message: withOptionNames(error.message), exitCode: EXIT.usage };
  if (error instanceof Error && error.name === 'AbortError')
    return { message: 'Interrupted.', exitCode: EXIT.interrupted };
  return { message: error instanceof Error ? error.message : String(error), exitCode: EXIT.failure };
}

/** The client names its own options. */
function withOptionNames(message: string): string {
  return message
    .replace('baseUrl', '--url or PORTICO_CLI_URL')
    .replace('authUrl', '--auth-url or PORTICO_CLI_AUTH_URL');
}

/** The error as an object, for `--json`. */
export function errorObject(error: unknown): object {
  const { message, exitCode } = describeError(error);
  if (!(error instanceof ApiError)) return { error: message, exit_code: exitCode };
  return {
    ...{ error: error.message, exit_code: exitCode, status: error.status },
    ...(error.messageCode && { message_code: error.messageCode }),
    ...(error.requestId && { request_id: error.requestId }),
  };
}

/** Another try may succeed: no connection, an overloaded service, or a limit of calls. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError ? isOverload(error) : error instanceof ConnectionError;
}

/** The limit of token requests has the status of a refusal. */
function isOverload({ status, messageCode }: ApiError): boolean {
  return status >= SERVER_ERROR || status === TOO_MANY_REQUESTS || messageCode === 'rate_limit_exceeded';
}

function describeApiError({ message, status, messageCode, requestId }: ApiError): string {
  const details = [status, messageCode, requestId && `request ${requestId}`].filter(Boolean).join(', ');
  const advice = ADVICE[messageCode];
  return `${message} (${details})${advice ? `\n${advice}` : ''}`;
}

const ADVICE: Readonly<Record<string, string>> = {
  invalid_client: 'Run portico login to enter the key pair again.',
  ip_not_allowed: 'Run portico doctor to see which address the service sees.',
};

/** The service checks most values, so that a newer one can accept more. */
const EXIT_BY_STATUS: Readonly<Record<number, number>> = {
  400: EXIT.usage,
  401: EXIT.authentication,
  403: EXIT.permission,
  404: EXIT.notFound,
};

function exitCodeOf(error: ApiError): number {
  const { status, messageCode } = error;
  if (isOverload(error)) return EXIT.unreachable;
  if (messageCode === 'invalid_scope') return EXIT.permission;
  return EXIT_BY_STATUS[status] ?? EXIT.failure;
}
