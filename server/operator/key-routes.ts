import Type from 'typebox';
import { unwrap } from '../infrastructure/http/errors.ts';
import { answers, Timestamp, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { SigningKeys } from '../tokens/signing-keys/signing-keys.ts';
import { type OperatorAuthentication, security } from './authentication.ts';
import { type MasterKeyDeps, rotateMasterKey } from './master-key.ts';

export type RotationDeps = MasterKeyDeps & {
  authentication: OperatorAuthentication;
  signingKeys: SigningKeys;
};

const RotatedSigningKey = viewSchema('RotatedSigningKey', {
  kid: Type.String({ example: '0199e5a4c1b2' }),
  signs_from: Timestamp,
});
const RotatedMasterKey = viewSchema('RotatedMasterKey', {
  key_id: Type.String({ description: 'The master key that encrypts new secrets', example: '3fd2a1b0' }),
  reencrypted: Type.Integer({ description: 'Stored secrets that were encrypted again', example: 42 }),
  client_secrets_under_older_keys: Type.Integer({
    description:
      'Client secrets that are encrypted again at their next use. Keep the older keys until this is 0',
    example: 0,
  }),
});

export function registerKeyRoutes(scope: HttpServer, deps: RotationDeps): void {
  const { authentication, signingKeys } = deps;
  const tags = ['Operator: keys'];

  scope.post(
    '/signing_keys/rotate',
    {
      schema: {
        operationId: 'operatorRotateSigningKey',
        'x-command': 'signing-keys rotate',
        summary:
          'Publish a new signing key; it signs after ten minutes, the old key verifies until its tokens expire',
        tags,
        security,
        response: answers({ 200: RotatedSigningKey }, 401, 403, 409, 413, 415),
      },
    },
    async (request) => {
      const { kid, signsFrom } = unwrap(await signingKeys.rotate(authentication.actor(request)));
      return { kid, signs_from: signsFrom.toISOString() };
    },
  );

  scope.post(
    '/master_key/rotate',
    {
      schema: {
        operationId: 'operatorRotateMasterKey',
        'x-command': 'master-key rotate',
        summary: 'Encrypt stored secrets again with the first master key of PORTICO_MASTER_KEY',
        tags,
        security,
        response: answers({ 200: RotatedMasterKey }, 401, 403, 413, 415),
      },
    },
    async (request) => rotateMasterKey(deps, authentication.actor(request)),
  );
}
