import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import type { ClientCredentialsBody } from '../schema.ts';

export type ClientCredentials = { clientId: string; secret: Secret };

/** Ignored: many clients send the token they hold with every request. */
const BEARER = /^Bearer( |$)/i;
const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Client credentials from the body or by HTTP Basic, but not from both (RFC 6749, section 2.3.1). */
export function readCredentials(
  request: FastifyRequest,
  body: Static<typeof ClientCredentialsBody>,
): ClientCredentials | Failure {
  const { authorization } = request.headers;
  if (authorization === undefined || (isComplete(body) && BEARER.test(authorization))) return fromBody(body);
  const basic = fromBasic(authorization);
  if (isFailure(basic)) return basic;
  if (body.client_secret !== undefined)
    return new Failure(
      'invalid_request',
      'Send the client credentials by HTTP Basic or in the body, not both',
    );
  if (body.client_id !== undefined && body.client_id !== basic.clientId)
    return new Failure('invalid_request', 'client_id differs from the one in the Authorization header');
  return basic;
}

function isComplete({ client_id, client_secret }: Static<typeof ClientCredentialsBody>): boolean {
  return client_id !== undefined && client_secret !== undefined;
}

function fromBody({ client_id: clientId, client_secret: secret }: Static<typeof ClientCredentialsBody>) {
  if (clientId === undefined) return new Failure('invalid_request', 'client_id is required');
  if (secret === undefined) return new Failure('invalid_request', 'client_secret is required');
  return { clientId, secret: new Secret(secret) };
}

function fromBasic(authorization: string): ClientCredentials | Failure {
  const encoded = BASIC.exec(authorization)?.[1];
  const decoded = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const clientId = colon === -1 ? undefined : formDecode(decoded.slice(0, colon));
  const secret = colon === -1 ? undefined : formDecode(decoded.slice(colon + 1));
  if (clientId === undefined || secret === undefined)
    return new Failure('invalid_client', 'The Authorization header is not valid HTTP Basic');
  return { clientId, secret: new Secret(secret) };
}

/** Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
