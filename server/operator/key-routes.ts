import Type, { type Static } from 'typebox';
import { Timestamp, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import type { SigningKeys } from '../tokens/signing-keys/signing-keys.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';
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

  registerCreate(scope, '/signing_keys/rotate', {
    access: operatorAccess('signing-keys rotate'),
    operationId: 'operatorRotateSigningKey',
    summary:
      'Publish a new signing key; it signs after ten minutes, the old key verifies until its tokens expire',
    tags,
    status: 200,
    item: RotatedSigningKey,
    view: ({ kid, signsFrom }) => ({ kid, signs_from: signsFrom.toISOString() }),
    create: (request, recordAnswer) => signingKeys.rotate(authentication.actor(request), recordAnswer),
  });

  registerCreate(scope, '/master_key/rotate', {
    access: operatorAccess('master-key rotate'),
    operationId: 'operatorRotateMasterKey',
    summary: 'Encrypt stored secrets again with the first master key of PORTICO_MASTER_KEY',
    tags,
    status: 200,
    item: RotatedMasterKey,
    view: (rotated: Static<typeof RotatedMasterKey>) => rotated,
    create: (request, recordAnswer) => rotateMasterKey(deps, authentication.actor(request), recordAnswer),
  });
}
