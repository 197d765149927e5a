import { unwrap } from '../../../infrastructure/http/errors.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { PasskeyLogin, type PasskeyRequest } from '../passkeys/passkey-schema.ts';
import { type RouteTools, tags } from '../route-tools.ts';
import { PasswordConfirmation, TotpConfirmation } from '../schema.ts';
import { bySession } from '../sessions/guard.ts';

/** Proofs of identity in a session, required before changes that give lasting access. */
export function registerProofs(dashboard: HttpServer, { login, sourceOf }: RouteTools): void {
  const { proofs } = login;

  dashboard.post(
    '/account/proof/password',
    {
      schema: {
        ...bySession,
        operationId: 'proveByPassword',
        summary: 'Prove your identity with your password for 5 minutes; not with a second factor enabled',
        tags,
        body: PasswordConfirmation,
        response: answers({ 204: { type: 'null' } }, 401, 403, 409, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      unwrap(await proofs.byPassword(request.session, request.body.password, sourceOf(request)));
      return reply.code(204).send();
    },
  );

  dashboard.post(
    '/account/proof/totp',
    {
      schema: {
        ...bySession,
        operationId: 'proveByTotp',
        summary: 'Prove your identity with a one-time password or a recovery code for 5 minutes',
        tags,
        body: TotpConfirmation,
        response: answers({ 204: { type: 'null' } }, 401, 403, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      unwrap(await proofs.byCode(request.session, request.body.code, sourceOf(request)));
      return reply.code(204).send();
    },
  );

  dashboard.post(
    '/account/proof/passkey',
    {
      schema: {
        ...bySession,
        operationId: 'proveByPasskey',
        summary:
          'Prove your identity with a passkey for 5 minutes; it signs the challenge of a passkey login',
        tags,
        body: PasskeyLogin,
        response: answers({ 204: { type: 'null' } }, 401, 403, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const { challenge_id: challengeGuid, response } = request.body;
      const input = { challengeGuid, response: response as PasskeyRequest };
      unwrap(await proofs.byPasskey(request.session, input, sourceOf(request)));
      return reply.code(204).send();
    },
  );
}
