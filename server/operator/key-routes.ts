import Type from 'typebox';
import { unwrap } from '../infrastructure/http/errors.ts';
import { answers, Timestamp } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { SigningKeys } from '../tokens/signing-keys/signing-keys.ts';
import { type OperatorAuthentication, security } from './authentication.ts';
import { type MasterKeyDeps, rotateMasterKey } from './master-key.ts';

export type RotationDeps = MasterKeyDeps & {
  authentication: OperatorAuthentication;
  signingKeys: SigningKeys;
};

const RotatedSigningKey = Type.Object({ kid: Type.String(), signs_from: Timestamp });
const RotatedMasterKey = Type.Object({
  key_id: Type.String({ description: 'the master key that everything new is stored under' }),
  reencrypted: Type.Integer({ description: 'stored secrets that were moved to it now' }),
  client_secrets_under_older_keys: Type.Integer({
    description: 'client secrets that move when they are next used; keep the older keys until this is 0',
  }),
});

export function registerKeyRoutes(scope: HttpServer, deps: RotationDeps): void {
  const { authentication, signingKeys } = deps;
  const tags = ['Operator: keys'];

  scope.post(
    '/signing_keys/rotate',
    {
      schema: {
        operationId: 'operator.signing_keys.rotate',
        summary:
          'Publish a new signing key; it signs ten minutes later, and the old one stays until its tokens expire',
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
        operationId: 'operator.master_key.rotate',
        summary: 'Move everything stored to the first master key of PORTICO_MASTER_KEY',
        tags,
        security,
        response: answers({ 200: RotatedMasterKey }, 401, 403, 413, 415),
      },
    },
    async (request) => rotateMasterKey(deps, authentication.actor(request)),
  );
}
