import Type from 'typebox';
import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { Environments } from './issuing/environments.ts';
import { scopesFor } from './scopes.ts';
import { ALGORITHM, JWKS_MAX_AGE_SECONDS, type SigningKeys } from './signing-keys/signing-keys.ts';

const JwksView = Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) });

const MetadataView = Type.Object({
  issuer: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  introspection_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  grant_types_supported: Type.Array(Type.String()),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  introspection_endpoint_auth_methods_supported: Type.Array(Type.String()),
  revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
  access_token_signing_alg_values_supported: Type.Array(Type.String()),
  scopes_supported: Type.Array(Type.String()),
});

/**
 * Published keys and RFC 8414 metadata. `response_types_supported` is left out: without an authorization endpoint it would be
 * empty, which section 3.2 forbids.
 */
export function registerTokenMetadata(
  server: HttpServer,
  { signingKeys, environments }: { signingKeys: SigningKeys; environments: Environments },
): void {
  const tags = ['Tokens'];

  server.get(
    '/.well-known/jwks.json',
    {
      schema: {
        operationId: 'jwks',
        summary: 'Get the public keys of the token issuer',
        tags,
        response: answers({ 200: JwksView }),
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${JWKS_MAX_AGE_SECONDS}`);
      return reply.send(await signingKeys.jwks());
    },
  );

  server.get(
    '/.well-known/oauth-authorization-server',
    {
      schema: {
        operationId: 'oauth_metadata',
        summary: 'Get the metadata of the token issuer (RFC 8414)',
        tags,
        response: answers({ 200: MetadataView }),
      },
    },
    async (request) => {
      const issuer = environments.issuerOf(environments.ofHost(request.headers.host));
      const methods = ['client_secret_basic', 'client_secret_post'];
      return {
        issuer,
        token_endpoint: `${issuer}/oauth/token`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        introspection_endpoint: `${issuer}/oauth/introspect`,
        revocation_endpoint: `${issuer}/oauth/revoke`,
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: methods,
        introspection_endpoint_auth_methods_supported: methods,
        revocation_endpoint_auth_methods_supported: methods,
        access_token_signing_alg_values_supported: [ALGORITHM],
        scopes_supported: scopesFor('organization'),
      };
    },
  );
}
