import { ApiError } from '../../sdk/src/errors.ts';
import type { Command, Context } from './command.ts';
import { CliError, EXIT, isPassing } from './failure.ts';
import { claimsOf } from './session.ts';

const FORBIDDEN = 403;

/** A refusal names a scope or a token type; to a user with a Bank key, the key itself is the reason. */
export async function explainRefusal(
  error: unknown,
  { name, needsOrganizationKey }: Command,
  { io, session }: Pick<Context, 'io' | 'session'>,
): Promise<unknown> {
  if (!needsOrganizationKey || !isRefusal(error)) return error;
  const { withScopes } = await session();
  const token = await withScopes()
    .token({ signal: io.signal })
    .catch(() => undefined);
  if (token === undefined || claimsOf(token).token_type !== 'bank') return error;
  return new CliError(
    `portico ${name} needs an Organization key, and this key pair is a Bank key.\nRun portico login with an Organization key.`,
    EXIT.permission,
  );
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError) || isPassing(error)) return false;
  return error.status === FORBIDDEN || error.messageCode === 'invalid_scope';
}
