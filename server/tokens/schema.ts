import Type from 'typebox';
import { Guid, inputSchema, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import { TOKEN_LIFETIME_SECONDS } from './claims.ts';
import { MAX_SCOPES } from './scopes.ts';

/** Unknown fields are ignored, as RFC 6749, section 3.2, requires. */
const credentials = {
  client_id: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The client_id, unless it is sent by HTTP Basic',
      example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
    }),
  ),
  client_secret: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The client_secret, unless it is sent by HTTP Basic',
      example: 'portico_sk_EXAMPLE8Qm2Zt6vN0xYw4Rk1Hs7Lb3Dc9Fj5Ga',
    }),
  ),
};
const GrantType = Type.String({
  maxLength: 64,
  description: 'client_credentials',
  example: 'client_credentials',
});
const scopeSchema = (example: string) =>
  Type.Optional(
    Type.String({ maxLength: 4_096, description: 'Scopes separated by spaces, at most 100', example }),
  );
const CustomerGuid = Type.String({
  maxLength: 128,
  description: 'The guid of the customer',
  example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
});

export const ClientCredentialsBody = Type.Object(credentials);
export const TokenBody = viewSchema('TokenRequest', {
  grant_type: GrantType,
  ...credentials,
  scope: scopeSchema('customers:read customers:execute'),
});
export const CustomerTokenBody = viewSchema('CustomerTokenRequest', {
  grant_type: GrantType,
  ...credentials,
  customer_guid: CustomerGuid,
  scope: scopeSchema('customers:read trades:read'),
});
const AccessToken = Type.String({
  description: 'A JWT',
  example: 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk5ZTVhNGMxYjIifQ.EXAMPLE',
});
export const TokenQuestionBody = viewSchema('TokenQuestion', {
  ...credentials,
  token: { ...AccessToken, maxLength: 8_192, description: 'The access token, at most 8,192 characters' },
});

export const NewCustomerToken = inputSchema('NewCustomerToken', {
  customer_guid: CustomerGuid,
  scopes: Type.Array(Type.String({ maxLength: 128, example: 'customers:read' }), {
    maxItems: MAX_SCOPES,
    description: `At most ${MAX_SCOPES} scopes`,
  }),
});

export const TokenView = viewSchema('Token', {
  access_token: AccessToken,
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Lifetime in seconds', example: TOKEN_LIFETIME_SECONDS }),
  scope: Type.String({ description: 'The granted scopes', example: 'customers:read customers:execute' }),
});

/** For examples. */
const A_UNIX_TIME = 1_794_744_000;
const UnixTime = (description: string) => Type.Optional(Type.Integer({ description, example: A_UNIX_TIME }));

export const SourceAddressView = Type.Object(
  { address: Type.Optional(Type.String({ example: '198.51.100.7' })) },
  { title: 'SourceAddress' },
);

/** RFC 7662, section 2.2; the claims only of an active token. */
export const IntrospectionView = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.String({ description: 'organization, bank, customer or user' })),
    exp: UnixTime('Expiry as Unix time'),
    iat: UnixTime('Time of issue as Unix time'),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    jti: Type.Optional(Type.String()),
    parent_jti: Type.Optional(
      Type.String({ description: 'Of a customer token: the token whose revocation revokes it too' }),
    ),
    organization_guid: Type.Optional(Guid),
    bank_guid: Type.Optional(Guid),
    customer_guid: Type.Optional(Guid),
    environment: Type.Optional(Type.String()),
    ip_allowlist: Type.Optional(Type.Array(Type.String())),
    auth_time: UnixTime('Of a user token: when the person last authenticated, as Unix time'),
    amr: Type.Optional(
      Type.Array(Type.String(), { description: 'mfa after a second factor, otherwise pwd' }),
    ),
  },
  {
    title: 'Introspection',
    example: {
      active: true,
      scope: 'customers:read',
      client_id: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
      token_type: 'organization',
      exp: A_UNIX_TIME,
      iat: A_UNIX_TIME - TOKEN_LIFETIME_SECONDS,
      sub: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
      environment: 'sandbox',
    },
  },
);
