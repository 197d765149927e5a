import Type from 'typebox';
import { AnyObject, answers, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { Environments } from './issuing/environments.ts';
import { scopesFor } from './scopes.ts';
import { ALGORITHM, JWKS_MAX_AGE_SECONDS, type SigningKeys } from './signing-keys/signing-keys.ts';

const PublicKey = Type.Unsafe<Record<string, unknown>>({
  ...AnyObject,
  title: 'PublicKey',
  description: 'A JSON Web Key (RFC 7517)',
  example: {
    kty: 'EC',
    crv: 'P-256',
    kid: '0199e5a4c1b2',
    alg: 'ES256',
    use: 'sig',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  },
});
const JwksView = viewSchema('JsonWebKeySet', { keys: Type.Array(PublicKey) });

const Endpoint = (path: string) => Type.String({ example: `https://portico.example${path}` });
const AuthenticationMethods = Type.Array(Type.String({ example: 'client_secret_basic' }));
const MetadataView = viewSchema('AuthorizationServerMetadata', {
  issuer: Endpoint(''),
  token_endpoint: Endpoint('/oauth/token'),
  jwks_uri: Endpoint('/.well-known/jwks.json'),
  introspection_endpoint: Endpoint('/oauth/introspect'),
  revocation_endpoint: Endpoint('/oauth/revoke'),
  grant_types_supported: Type.Array(Type.String({ example: 'client_credentials' })),
  token_endpoint_auth_methods_supported: AuthenticationMethods,
  introspection_endpoint_auth_methods_supported: AuthenticationMethods,
  revocation_endpoint_auth_methods_supported: AuthenticationMethods,
  access_token_signing_alg_values_supported: Type.Array(Type.String({ example: 'ES256' })),
  scopes_supported: Type.Array(Type.String({ example: 'customers:read' })),
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
        operationId: 'getJsonWebKeySet',
        summary: 'Get the public keys of the token issuer (RFC 7517)',
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
        operationId: 'getAuthorizationServerMetadata',
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
