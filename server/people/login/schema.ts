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
import type { Entry } from './entry.ts';
import type { Session } from './sessions/sessions.ts';

/** Longer than any password may be, and short enough that hashing it costs nothing extra. */
const MAX_PASSWORD_INPUT = 1_024;
const MAX_CODE_CHARACTERS = 32;
const MAX_TOKEN_CHARACTERS = 128;

const Password = Type.String({ maxLength: MAX_PASSWORD_INPUT });
const Token = Type.String({
  maxLength: MAX_TOKEN_CHARACTERS,
  description: 'what stands after #token= in a link',
});
const TotpCode = Type.String({
  maxLength: MAX_CODE_CHARACTERS,
  description: 'six digits of the authenticator, or a recovery code',
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
      'How a link would come: log is of the demo on one’s own machine; operator has the request, for there is no mail server',
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
        description: 'what this person needs a second factor for there',
      }),
    }),
  ),
  second_factor: Type.Boolean({ description: 'whether one was given in this session' }),
  support_email: Type.String(),
  version: Type.String(),
  environments: Type.Array(EnvironmentName),
  allowlist_policy: Type.Enum(['required', 'optional'], {
    description: 'required: every new key needs an address list; optional: only those of live Organizations',
  }),
  allowlist_min_prefix: Type.Integer({
    description: 'the prefix length of the widest range in an address list',
  }),
  address: Type.Optional(Type.String({ description: 'where this very request came from' })),
});

export const UserTokenView = Type.Object({ ...TokenView.properties, role: RoleName });
export const LinkView = Type.Object({
  email: Type.String(),
  purpose: Type.Enum(['invitation', 'password_reset']),
  organization_name: Type.Optional(Type.String()),
});
export const NewTotpView = Type.Object({
  secret: Type.String({ description: 'base32, for who cannot scan' }),
  uri: Type.String({ description: 'otpauth://…, to be shown as a QR code' }),
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

type Surroundings = {
  supportEmail: string;
  allowlistPolicy: AllowlistPolicy;
  allowlistMinPrefix: number;
  address: string | undefined;
};

export function viewSession(
  { person, hasTotp, passkeyCount, secondFactor, organizations }: Awaited<ReturnType<Entry['describe']>>,
  { supportEmail, allowlistPolicy, allowlistMinPrefix, address }: Surroundings,
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
