import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { userActor } from './request-source.ts';
import { type RouteTools, tags } from './route-tools.ts';
import {
  NewTotpView,
  Nothing,
  OwnAccountChanges,
  PasswordChange,
  PasswordConfirmation,
  RecoveryCodesView,
  SessionListView,
  SessionView,
  TotpConfirmation,
  viewSessions,
} from './schema.ts';
import { bySession } from './sessions/guard.ts';

export function registerAccount(dashboard: HttpServer, tools: RouteTools): void {
  registerPerson(dashboard, tools);
  registerTotp(dashboard, tools);
  registerSessions(dashboard, tools);
}

function registerPerson(dashboard: HttpServer, { login, sourceOf, describe }: RouteTools): void {
  dashboard.patch(
    '/account',
    {
      schema: {
        ...bySession,
        operationId: 'updateOwnAccount',
        summary: 'Change your name',
        tags,
        body: OwnAccountChanges,
        response: answers({ 200: SessionView }, 401, 403, 413, 415, 503),
      },
    },
    async (request) => {
      const { member_guid: guid } = request.session;
      unwrap(await login.accounts.rename(guid, request.body.name, sourceOf(request)));
      return describe(request, request.session);
    },
  );

  dashboard.post(
    '/account/password',
    {
      schema: {
        ...bySession,
        operationId: 'changePassword',
        summary: 'Change your password; all other sessions end',
        tags,
        body: PasswordChange,
        response: answers({ 204: { type: 'null' } }, 401, 403, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      const { current_password: currentPassword, new_password: newPassword } = request.body;
      const passwords = { currentPassword, newPassword };
      unwrap(await login.accounts.changePassword(request.session, passwords, sourceOf(request)));
      return reply.code(204).send();
    },
  );
}

function registerTotp(dashboard: HttpServer, { login, sourceOf }: RouteTools): void {
  dashboard.post(
    '/account/totp',
    {
      schema: {
        ...bySession,
        operationId: 'createTotp',
        summary:
          'Create a secret for an authenticator app, enabled by confirming a code. Needs a fresh proof',
        tags,
        body: Nothing,
        response: answers({ 201: NewTotpView }, 401, 403, 409, 413, 415, 503),
      },
    },
    async (request, reply) => {
      const begun = await login.accounts.beginTotp(request.session, sourceOf(request));
      return reply.code(201).send(unwrap(begun));
    },
  );

  dashboard.post(
    '/account/totp/confirm',
    {
      schema: {
        ...bySession,
        operationId: 'confirmTotp',
        summary:
          'Enable one-time passwords within 10 minutes; only this response has the recovery codes. Needs a fresh proof',
        tags,
        body: TotpConfirmation,
        response: answers({ 200: RecoveryCodesView }, 401, 403, 409, 413, 415, 422, 503),
      },
    },
    async (request) => {
      const codes = await login.accounts.confirmTotp(request.session, request.body.code, sourceOf(request));
      return { recovery_codes: unwrap(codes) };
    },
  );

  dashboard.delete(
    '/account/totp',
    {
      schema: {
        ...bySession,
        operationId: 'deleteTotp',
        summary: 'Disable one-time passwords, with your password. Needs a fresh proof',
        tags,
        body: PasswordConfirmation,
        response: answers({ 204: { type: 'null' } }, 401, 403, 409, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      unwrap(await login.accounts.turnOffTotp(request.session, request.body.password, sourceOf(request)));
      return reply.code(204).send();
    },
  );
}

function registerSessions(dashboard: HttpServer, { login, sourceOf }: RouteTools): void {
  dashboard.get(
    '/account/sessions',
    {
      schema: {
        ...bySession,
        operationId: 'listSessions',
        summary: 'List your sessions',
        tags,
        response: answers({ 200: SessionListView }, 401, 403),
      },
    },
    async ({ session }) => viewSessions(await login.sessions.list(session.member_guid), session),
  );

  dashboard.delete(
    '/account/sessions/:guid',
    {
      schema: {
        ...bySession,
        operationId: 'endSession',
        summary: 'End a session and revoke its tokens',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      const { member_guid: guid } = request.session;
      unwrap(await login.sessions.end(userActor(guid, sourceOf(request)), guid, request.params.guid));
      return reply.code(204).send();
    },
  );
}
