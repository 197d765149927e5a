import type { FastifyRequest } from 'fastify';
import type { Failure, FailureCode } from '../runtime/failure.ts';

const REALM = 'realm="portico"';
const INVALID_TOKEN: readonly FailureCode[] = ['authentication_failed', 'authentication_malformed'];

/**
 * The `WWW-Authenticate` header of a 401 or 403 (RFC 6750, section 3). A request without a bearer token gets no error
 * code.
 */
export function challengeFor(failure: Failure, status: number, request: FastifyRequest): string | undefined {
  if (failure.code === 'invalid_scopes') return bearer('insufficient_scope', failure);
  if (status !== 401) return undefined;
  if (request.routeOptions.config.oauth) return `Basic ${REALM}`;
  const hasToken = /^bearer\b/i.test(request.headers.authorization ?? '');
  return hasToken && INVALID_TOKEN.includes(failure.code)
    ? bearer('invalid_token', failure)
    : `Bearer ${REALM}`;
}

function bearer(error: string, { message, scope }: Failure): string {
  // RFC 6750, section 3, allows neither quotes nor characters beyond printable ASCII in a description.
  const description = message.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
  const needed = scope ? `, scope="${scope}"` : '';
  return `Bearer ${REALM}, error="${error}", error_description="${description}"${needed}`;
}
