import Type from 'typebox';
import { Guid, strictObject } from '../infrastructure/http/requests/schemas.ts';
import { MAX_SCOPES } from './scopes.ts';

/** Unknown fields are ignored, as RFC 6749, section 3.2, requires. */
const credentials = {
  client_id: Type.Optional(Type.String({ maxLength: 128 })),
  client_secret: Type.Optional(Type.String({ maxLength: 256 })),
};
const GrantType = Type.String({ maxLength: 64, description: 'client_credentials' });
const Scope = Type.Optional(
  Type.String({ maxLength: 4_096, description: 'scope names separated by spaces' }),
);

export const ClientCredentialsBody = Type.Object(credentials);
export const TokenBody = Type.Object({ grant_type: GrantType, ...credentials, scope: Scope });
export const CustomerTokenBody = Type.Object({
  grant_type: GrantType,
  ...credentials,
  customer_guid: Type.String({ maxLength: 128 }),
  scope: Scope,
});
export const TokenQuestionBody = Type.Object({ ...credentials, token: Type.String({ maxLength: 8_192 }) });

export const NewCustomerToken = strictObject({
  customer_guid: Type.String({ maxLength: 128 }),
  scopes: Type.Array(Type.String({ maxLength: 128 }), { maxItems: MAX_SCOPES }),
});

export const TokenView = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'lifetime in seconds' }),
  scope: Type.String({ description: 'the granted scopes, separated by spaces' }),
});

/** RFC 7662, section 2.2. Only an active token has claims. */
export const IntrospectionView = Type.Object({
  active: Type.Boolean(),
  scope: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  token_type: Type.Optional(Type.String({ description: 'organization, bank, customer or user' })),
  exp: Type.Optional(Type.Integer()),
  iat: Type.Optional(Type.Integer()),
  sub: Type.Optional(Type.String()),
  aud: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
  jti: Type.Optional(Type.String()),
  parent_jti: Type.Optional(
    Type.String({ description: 'jti of the token that a customer token was obtained with' }),
  ),
  organization_guid: Type.Optional(Guid),
  bank_guid: Type.Optional(Guid),
  customer_guid: Type.Optional(Guid),
  environment: Type.Optional(Type.String()),
  ip_allowlist: Type.Optional(Type.Array(Type.String())),
  auth_time: Type.Optional(Type.Integer({ description: 'user tokens: time of the last proof of identity' })),
  amr: Type.Optional(
    Type.Array(Type.String(), { description: 'user tokens: mfa with a second factor, otherwise pwd' }),
  ),
});
