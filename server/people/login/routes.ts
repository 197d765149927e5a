import type { FastifyRequest } from 'fastify';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerSavedFilters } from '../saved-filters/routes.ts';
import { registerAccount } from './account-routes.ts';
import { registerLinks } from './links/link-routes.ts';
import { registerPasskeys } from './passkeys/passkey-routes.ts';
import { PasskeyLogin, PasskeyLoginOptions, type PasskeyRequest } from './passkeys/passkey-schema.ts';
import { registerProofs } from './proofs/proof-routes.ts';
import { createSourceOf, userActor } from './request-source.ts';
import { type LoginDeps, type RouteTools, tags } from './route-tools.ts';
import { LoginBody, Nothing, SessionView, UserTokenBody, UserTokenView, viewSession } from './schema.ts';
import { bySession, clearSessionCookie, registerDashboard, setSessionCookie } from './sessions/guard.ts';
import type { Session } from './sessions/sessions.ts';

/** The dashboard's routes for login and account. For everything else it calls `/api` with user tokens. */
export async function registerLogin(server: HttpServer, deps: LoginDeps): Promise<void> {
  const { login, baseUrl, supportEmail, allowlistPolicy, allowlistMinPrefix, tokenUrls, sourceAddress } =
    deps;

  async function describe(request: FastifyRequest, session: Session) {
    const address = sourceAddress(request);
    const context = { supportEmail, allowlistPolicy, allowlistMinPrefix, tokenUrls, address };
    return viewSession(await login.authentication.describe(session), context);
  }
  const tools: RouteTools = {
    ...deps,
    sourceOf: createSourceOf(sourceAddress),
    describe,
    async respondWithSession(reply, { session, secret }) {
      setSessionCookie(reply, baseUrl, secret);
      return describe(reply.request, session);
    },
  };

  await registerDashboard(
    server,
    { ...deps, sessions: login.sessions, limits: login.limits },
    (dashboard) => {
      registerAuthentication(dashboard, tools);
      registerSession(dashboard, tools);
      registerLinks(dashboard, tools);
      registerAccount(dashboard, tools);
      registerPasskeys(dashboard, tools);
      registerProofs(dashboard, tools);
      registerSavedFilters(dashboard, login.savedFilters);
    },
  );
}

function registerAuthentication(
  dashboard: HttpServer,
  { login, sourceOf, respondWithSession }: RouteTools,
): void {
  const config = { withoutSession: true };

  dashboard.post(
    '/login',
    {
      config,
      schema: {
        operationId: 'logIn',
        summary: 'Log in with email address, password and, if enabled, one-time password',
        tags,
        body: LoginBody,
        response: answers({ 200: SessionView }, 401, 403, 413, 415, 503),
      },
    },
    async (request, reply) => {
      const { email, password, totp_code: totpCode } = request.body;
      const started = await login.authentication.logIn({ email, password, totpCode }, sourceOf(request));
      return respondWithSession(reply, unwrap(started));
    },
  );

  dashboard.post(
    '/passkey_login/options',
    {
      config,
      schema: {
        operationId: 'createPasskeyLoginOptions',
        summary: 'Create the single-use challenge of a passkey login, valid for 5 minutes',
        tags,
        body: Nothing,
        response: answers({ 200: PasskeyLoginOptions }, 403, 413, 415),
      },
    },
    async (request) => unwrap(await login.authentication.passkeyOptions(sourceOf(request))),
  );

  dashboard.post(
    '/passkey_login',
    {
      config,
      schema: {
        operationId: 'logInWithPasskey',
        summary: 'Log in with a passkey',
        tags,
        body: PasskeyLogin,
        response: answers({ 200: SessionView }, 401, 403, 413, 415),
      },
    },
    async (request, reply) => {
      const { challenge_id: challengeGuid, response } = request.body;
      const input = { challengeGuid, response: response as PasskeyRequest };
      return respondWithSession(
        reply,
        unwrap(await login.authentication.logInWithPasskey(input, sourceOf(request))),
      );
    },
  );
}

function registerSession(dashboard: HttpServer, { login, baseUrl, sourceOf, describe }: RouteTools): void {
  dashboard.get(
    '/session',
    {
      schema: {
        ...bySession,
        operationId: 'getSession',
        summary: 'Get the session, its member and their Organizations',
        tags,
        response: answers({ 200: SessionView }, 401, 403),
      },
    },
    async (request) => describe(request, request.session),
  );

  dashboard.post(
    '/logout',
    {
      schema: {
        ...bySession,
        operationId: 'logOut',
        summary: 'Log out: end this session and revoke its tokens',
        tags,
        body: Nothing,
        response: answers({ 204: { type: 'null' } }, 401, 403, 413, 415),
      },
    },
    async (request: FastifyRequest, reply) => {
      const { guid, member_guid: memberGuid } = request.session;
      // Ignores not_found: a concurrent request has ended the session already.
      await login.sessions.end(userActor(memberGuid, sourceOf(request)), memberGuid, guid);
      clearSessionCookie(reply, baseUrl);
      return reply.code(204).send();
    },
  );

  dashboard.post(
    '/token',
    {
      schema: {
        ...bySession,
        operationId: 'createUserToken',
        summary: 'Issue a user token for an Organization and environment, with the scopes of the role',
        tags,
        body: UserTokenBody,
        response: answers({ 200: UserTokenView }, 401, 403, 404, 413, 415, 503),
      },
    },
    async (request) => {
      const { organization_guid: organizationGuid, environment } = request.body;
      return unwrap(
        await login.authentication.issueToken(request.session, { organizationGuid, environment }),
      );
    },
  );
}
