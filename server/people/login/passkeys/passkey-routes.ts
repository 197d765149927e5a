import { unwrap } from '../../../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { type RouteTools, tags } from '../route-tools.ts';
import { Nothing } from '../schema.ts';
import { bySession } from '../sessions/guard.ts';
import {
  NewPasskey,
  type PasskeyCreation,
  PasskeyCreationOptions,
  PasskeyListView,
  PasskeyView,
  viewPasskey,
} from './passkey-schema.ts';

export function registerPasskeys(dashboard: HttpServer, { login, sourceOf }: RouteTools): void {
  const { passkeys, accounts } = login;

  dashboard.get(
    '/account/passkeys',
    {
      schema: {
        ...bySession,
        operationId: 'listPasskeys',
        summary: 'List your passkeys',
        tags,
        response: answers({ 200: PasskeyListView }, 401, 403),
      },
    },
    async ({ session }) => ({ objects: (await passkeys.list(session.member_guid)).map(viewPasskey) }),
  );

  dashboard.post(
    '/account/passkeys/options',
    {
      schema: {
        ...bySession,
        operationId: 'createPasskeyOptions',
        summary: 'Create the single-use challenge of a new passkey, valid for 5 minutes. Needs a fresh proof',
        tags,
        body: Nothing,
        response: answers({ 200: PasskeyCreationOptions }, 401, 403, 409, 413, 415, 422),
      },
    },
    async (request) => unwrap(await accounts.passkeyOptions(request.session)),
  );

  dashboard.post(
    '/account/passkeys',
    {
      schema: {
        ...bySession,
        operationId: 'createPasskey',
        summary: 'Add a passkey',
        tags,
        body: NewPasskey,
        response: answers({ 201: PasskeyView }, 401, 403, 413, 415, 422, 503),
      },
    },
    async (request, reply) => {
      const { name, response } = request.body;
      const input = { name, response: response as PasskeyCreation };
      const added = await accounts.addPasskey(request.session, input, sourceOf(request));
      return reply.code(201).send(viewPasskey(unwrap(added)));
    },
  );

  dashboard.delete(
    '/account/passkeys/:guid',
    {
      schema: {
        ...bySession,
        operationId: 'deletePasskey',
        summary: 'Delete a passkey. Needs a fresh proof',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 409, 413, 415, 503),
      },
    },
    async (request, reply) => {
      unwrap(await accounts.removePasskey(request.session, request.params.guid, sourceOf(request)));
      return reply.code(204).send();
    },
  );
}
