import Type, { type Static } from 'typebox';
import type { AllowlistPolicy } from '../../credentials/applications/service.ts';
import { secondFactorNeed } from '../../credentials/organizations/second-factor.ts';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { version } from '../../infrastructure/runtime/version.ts';
import { TokenView } from '../../tokens/schema.ts';
import { Email, PersonName, RoleName } from '../members/schema.ts';
import type { Authentication } from './authentication.ts';
import type { Session } from './sessions/sessions.ts';

/** Above the limit of new passwords, which has an error message of its own. */
const MAX_PASSWORD_INPUT = 1_024;
const MAX_CODE_CHARACTERS = 32;
const MAX_TOKEN_CHARACTERS = 128;

const Password = Type.String({
  maxLength: MAX_PASSWORD_INPUT,
  description: 'A new password has 12 to 128 characters and is neither common nor the email address',
  example: 'correct horse battery staple',
});
const Token = Type.String({
  maxLength: MAX_TOKEN_CHARACTERS,
  description: `The part of the link after #token=, at most ${MAX_TOKEN_CHARACTERS} characters`,
  example: 'EXAMPLE7q3ZkV1n',
});
const TotpCode = Type.String({
  maxLength: MAX_CODE_CHARACTERS,
  description: 'Six digits of the authenticator app, or a recovery code',
  example: '287082',
});
const EmailAddress = Type.String({ example: 'ada@partner.example' });
const SupportEmail = Type.String({
  description: 'Address of the support',
  example: 'support@portico.example',
});

export const Nothing = inputSchema('EmptyObject', {});
export const LoginBody = inputSchema('Login', {
  email: Email,
  password: Password,
  totp_code: Type.Optional(TotpCode),
});
export const UserTokenBody = inputSchema('UserTokenRequest', {
  organization_guid: Guid,
  environment: EnvironmentName,
});
export const PasswordResetBody = inputSchema('PasswordResetRequest', { email: Email });
export const PasswordResetView = viewSchema('PasswordResetAnswer', {
  link_by: Type.Enum(['mail', 'log', 'operator'], {
    title: 'LinkDelivery',
    description:
      'How links are sent: by email, in the log (demo), or by the operator if there is no mail server',
  }),
  support_email: SupportEmail,
});
export const LinkBody = inputSchema('LinkToken', { token: Token });
export const NewPasswordBody = inputSchema('NewPassword', {
  token: Token,
  password: Password,
  name: Type.Optional(PersonName),
  totp_code: Type.Optional(TotpCode),
});
export const OwnAccountChanges = inputSchema('OwnAccountChanges', { name: PersonName });
export const PasswordChange = strictObject(
  { current_password: Password, new_password: Password },
  { title: 'PasswordChange', example: { current_password: 'a winter walk by the canal' } },
);
export const TotpConfirmation = inputSchema('TotpConfirmation', { code: TotpCode });
export const PasswordConfirmation = inputSchema('PasswordConfirmation', { password: Password });

export const SessionView = viewSchema('Session', {
  member: viewSchema('SessionMember', {
    guid: Guid,
    email: EmailAddress,
    name: Type.Optional(Type.String({ example: 'Ada Lovelace' })),
    has_totp: Type.Boolean(),
    passkey_count: Type.Integer(),
  }),
  organizations: Type.Array(
    viewSchema('SessionOrganization', {
      guid: Guid,
      name: Type.String({ example: 'Acme Trading' }),
      live: Type.Boolean(),
      features: Type.Array(Type.String({ example: 'webhooks' })),
      role: RoleName,
      second_factor: Type.Enum(['always', 'production_changes', 'never'], {
        title: 'SecondFactorNeed',
        description: 'When this person needs a second factor in the Organization',
      }),
    }),
  ),
  second_factor: Type.Boolean({ description: 'Whether this session has used a second factor' }),
  support_email: SupportEmail,
  version: Type.String({ example: '0.1.0' }),
  environments: Type.Array(EnvironmentName),
  token_urls: viewSchema('TokenUrls', {
    sandbox: Type.String({ example: 'https://portico.example/oauth/token' }),
    production: Type.String({ example: 'https://production.portico.example/oauth/token' }),
  }),
  allowlist_policy: Type.Enum(['required', 'optional'], {
    title: 'AllowlistPolicy',
    description:
      'required: every new key needs an IP allowlist; optional: only keys of live Organizations do',
  }),
  allowlist_min_prefix: Type.Integer({
    description: 'Prefix length of the widest allowed range in an IP allowlist',
    example: 16,
  }),
  address: Type.Optional(
    Type.String({ description: 'Source address of this request', example: '198.51.100.7' }),
  ),
});

export const UserTokenView = viewSchema('UserToken', { ...TokenView.properties, role: RoleName });
export const LinkView = viewSchema('Link', {
  email: EmailAddress,
  purpose: Type.Enum(['invitation', 'password_reset'], { title: 'LinkPurpose' }),
  organization_name: Type.Optional(Type.String({ example: 'Acme Trading' })),
});
export const NewTotpView = viewSchema('NewTotp', {
  secret: Type.String({
    description: 'Base32 secret to type into an authenticator app',
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  }),
  uri: Type.String({
    description: 'otpauth URI to show as a QR code',
    example: 'otpauth://totp/Portico:ada@partner.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  }),
});
export const RecoveryCodesView = viewSchema('RecoveryCodes', {
  recovery_codes: Type.Array(Type.String({ example: 'k7qm-2xvd-9prt' })),
});
export const SessionListView = viewSchema('AccountSessionList', {
  objects: Type.Array(
    viewSchema('AccountSession', {
      guid: Guid,
      created_at: Timestamp,
      last_seen_at: Timestamp,
      address: Type.Optional(Type.String({ example: '198.51.100.7' })),
      user_agent: Type.Optional(Type.String({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' })),
      current: Type.Boolean({ description: 'Whether this is the session of the request' }),
    }),
  ),
});

type SessionContext = {
  supportEmail: string;
  allowlistPolicy: AllowlistPolicy;
  allowlistMinPrefix: number;
  tokenUrls: { sandbox: string; production: string };
  address: string | undefined;
};

export function viewSession(
  {
    person,
    hasTotp,
    passkeyCount,
    secondFactor,
    organizations,
  }: Awaited<ReturnType<Authentication['describe']>>,
  { supportEmail, allowlistPolicy, allowlistMinPrefix, tokenUrls, address }: SessionContext,
): Static<typeof SessionView> {
  return {
    member: {
      guid: person.guid,
      email: person.email,
      ...(person.name === null ? {} : { name: person.name }),
      has_totp: hasTotp,
      passkey_count: passkeyCount,
    },
    organizations: organizations.map(({ organization, role }) => {
      const { guid, name, live, features } = organization;
      return { guid, name, live, features, role, second_factor: secondFactorNeed(organization, role) };
    }),
    second_factor: secondFactor,
    support_email: supportEmail,
    version,
    environments: ['sandbox', 'production'],
    token_urls: tokenUrls,
    allowlist_policy: allowlistPolicy,
    allowlist_min_prefix: allowlistMinPrefix,
    ...(address === undefined ? {} : { address }),
  };
}

export function viewSessions(sessions: readonly Session[], current: Session): Static<typeof SessionListView> {
  return {
    objects: sessions.map(({ guid, created_at, last_seen_at, address, user_agent }) => ({
      guid,
      created_at: created_at.toISOString(),
      last_seen_at: last_seen_at.toISOString(),
      ...(address === null ? {} : { address }),
      ...(user_agent === null ? {} : { user_agent }),
      current: guid === current.guid,
    })),
  };
}
