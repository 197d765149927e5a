import Type, { type Static } from 'typebox';
import type { AllowlistPolicy } from '../../credentials/applications/service.ts';
import { secondFactorNeed } from '../../credentials/organizations/second-factor.ts';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
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

const Password = Type.String({ maxLength: MAX_PASSWORD_INPUT });
const Token = Type.String({
  maxLength: MAX_TOKEN_CHARACTERS,
  description: 'the part of the link after #token=',
});
const TotpCode = Type.String({
  maxLength: MAX_CODE_CHARACTERS,
  description: 'the six digits of the authenticator app, or a recovery code',
});

export const Nothing = strictObject({});
export const LoginBody = strictObject({
  email: Email,
  password: Password,
  totp_code: Type.Optional(TotpCode),
});
export const UserTokenBody = strictObject({ organization_guid: Guid, environment: EnvironmentName });
export const PasswordResetBody = strictObject({ email: Email });
export const PasswordResetView = Type.Object({
  link_by: Type.Enum(['mail', 'log', 'operator'], {
    description:
      'how the link is delivered: log (local demo only), or by the operator if there is no mail server',
  }),
  support_email: Type.String(),
});
export const LinkBody = strictObject({ token: Token });
export const NewPasswordBody = strictObject({
  token: Token,
  password: Password,
  name: Type.Optional(PersonName),
  totp_code: Type.Optional(TotpCode),
});
export const AccountChanges = strictObject({ name: PersonName });
export const PasswordChange = strictObject({ current_password: Password, new_password: Password });
export const TotpConfirmation = strictObject({ code: TotpCode });
export const PasswordConfirmation = strictObject({ password: Password });

export const SessionView = Type.Object({
  member: Type.Object({
    guid: Guid,
    email: Type.String(),
    name: Type.Optional(Type.String()),
    has_totp: Type.Boolean(),
    passkey_count: Type.Integer(),
  }),
  organizations: Type.Array(
    Type.Object({
      guid: Guid,
      name: Type.String(),
      live: Type.Boolean(),
      features: Type.Array(Type.String()),
      role: RoleName,
      second_factor: Type.Enum(['always', 'production_changes', 'never'], {
        description: 'what this person needs a second factor for in this Organization',
      }),
    }),
  ),
  second_factor: Type.Boolean({ description: 'whether this session has used a second factor' }),
  support_email: Type.String(),
  version: Type.String(),
  environments: Type.Array(EnvironmentName),
  allowlist_policy: Type.Enum(['required', 'optional'], {
    description: 'required: every new key needs an IP allowlist; optional: only keys of live Organizations',
  }),
  allowlist_min_prefix: Type.Integer({
    description: 'the prefix length of the widest range in an IP allowlist',
  }),
  address: Type.Optional(Type.String({ description: 'source address of this request' })),
});

export const UserTokenView = Type.Object({ ...TokenView.properties, role: RoleName });
export const LinkView = Type.Object({
  email: Type.String(),
  purpose: Type.Enum(['invitation', 'password_reset']),
  organization_name: Type.Optional(Type.String()),
});
export const NewTotpView = Type.Object({
  secret: Type.String({ description: 'base32, for manual entry' }),
  uri: Type.String({ description: 'otpauth:// URI for the QR code' }),
});
export const RecoveryCodesView = Type.Object({ recovery_codes: Type.Array(Type.String()) });
export const SessionListView = Type.Object({
  objects: Type.Array(
    Type.Object({
      guid: Guid,
      created_at: Timestamp,
      last_seen_at: Timestamp,
      address: Type.Optional(Type.String()),
      user_agent: Type.Optional(Type.String()),
      current: Type.Boolean(),
    }),
  ),
});

type SessionContext = {
  supportEmail: string;
  allowlistPolicy: AllowlistPolicy;
  allowlistMinPrefix: number;
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
  { supportEmail, allowlistPolicy, allowlistMinPrefix, address }: SessionContext,
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
