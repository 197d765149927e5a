import { unwrap } from '../../../infrastructure/http/errors.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { type RouteTools, tags } from '../route-tools.ts';
import {
  LinkBody,
  LinkView,
  NewPasswordBody,
  PasswordResetBody,
  PasswordResetView,
  SessionView,
} from '../schema.ts';
import { bySession } from '../sessions/guard.ts';

export function registerLinks(dashboard: HttpServer, tools: RouteTools): void {
  const { login, sourceOf, respondWithSession, describe, supportEmail } = tools;
  const config = { withoutSession: true };

  dashboard.post(
    '/password_resets',
    {
      config,
      schema: {
        operationId: 'requestPasswordReset',
        summary: 'Request a password reset link; the response is the same for every address',
        tags,
        body: PasswordResetBody,
        response: answers({ 202: PasswordResetView }, 403, 413, 415),
      },
    },
    async (request, reply) => {
      unwrap(await login.passwordResets.request(request.body.email, sourceOf(request)));
      const { linkBy } = login.passwordResets;
      return reply.code(202).send({ link_by: linkBy, support_email: supportEmail });
    },
  );

  dashboard.post(
    '/links/inspect',
    {
      config,
      schema: {
        operationId: 'inspectLink',
        summary: 'Get the purpose of a link',
        tags,
        body: LinkBody,
        response: answers({ 200: LinkView }, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const found = unwrap(await login.accounts.inspectLink(request.body.token, sourceOf(request)));
      const { email, purpose, organizationName } = found;
      return {
        email,
        purpose,
        ...(organizationName === undefined ? {} : { organization_name: organizationName }),
      };
    },
  );

  dashboard.post(
    '/links/accept',
    {
      schema: {
        ...bySession,
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation with the account of this session',
        tags,
        body: LinkBody,
        response: answers({ 200: SessionView }, 401, 403, 404, 413, 415, 503),
      },
    },
    async (request) => {
      unwrap(await login.accounts.acceptInvitation(request.session, request.body.token, sourceOf(request)));
      return describe(request, request.session);
    },
  );

  dashboard.post(
    '/password',
    {
      config,
      schema: {
        operationId: 'setPassword',
        summary:
          'Set a password with a link and log in; all other sessions end, a reset also removes the passkeys',
        tags,
        body: NewPasswordBody,
        response: answers({ 200: SessionView }, 401, 403, 404, 409, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      const { token, password, name, totp_code: totpCode } = request.body;
      const started = await login.accounts.setPassword(
        { token, password, name, totpCode },
        sourceOf(request),
      );
      return respondWithSession(reply, unwrap(started));
    },
  );
}
