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

export const Nothing = strictObject({}, { title: 'EmptyObject' });
export const LoginBody = strictObject(
  {
    email: Email,
    password: Password,
    totp_code: Type.Optional(TotpCode),
  },
  { title: 'Login' },
);
export const UserTokenBody = strictObject(
  { organization_guid: Guid, environment: EnvironmentName },
  { title: 'UserTokenRequest' },
);
export const PasswordResetBody = strictObject({ email: Email }, { title: 'PasswordResetRequest' });
export const PasswordResetView = Type.Object(
  {
    link_by: Type.Enum(['mail', 'log', 'operator'], {
      title: 'LinkDelivery',
      description:
        'How links are sent: by email, in the log (demo), or by the operator if there is no mail server',
    }),
    support_email: SupportEmail,
  },
  { title: 'PasswordResetAnswer' },
);
export const LinkBody = strictObject({ token: Token }, { title: 'LinkToken' });
export const NewPasswordBody = strictObject(
  {
    token: Token,
    password: Password,
    name: Type.Optional(PersonName),
    totp_code: Type.Optional(TotpCode),
  },
  { title: 'NewPassword' },
);
export const AccountChanges = strictObject({ name: PersonName }, { title: 'AccountChanges' });
export const PasswordChange = strictObject(
  { current_password: Password, new_password: Password },
  { title: 'PasswordChange', example: { current_password: 'a winter walk by the canal' } },
);
export const TotpConfirmation = strictObject({ code: TotpCode }, { title: 'TotpConfirmation' });
export const PasswordConfirmation = strictObject({ password: Password }, { title: 'PasswordConfirmation' });

export const SessionView = Type.Object(
  {
    member: Type.Object(
      {
        guid: Guid,
        email: EmailAddress,
        name: Type.Optional(Type.String({ example: 'Ada Lovelace' })),
        has_totp: Type.Boolean(),
        passkey_count: Type.Integer(),
      },
      { title: 'SessionMember' },
    ),
    organizations: Type.Array(
      Type.Object(
        {
          guid: Guid,
          name: Type.String({ example: 'Acme Trading' }),
          live: Type.Boolean(),
          features: Type.Array(Type.String({ example: 'webhooks' })),
          role: RoleName,
          second_factor: Type.Enum(['always', 'production_changes', 'never'], {
            title: 'SecondFactorNeed',
            description: 'When this person needs a second factor in the Organization',
          }),
        },
        { title: 'SessionOrganization' },
      ),
    ),
    second_factor: Type.Boolean({ description: 'Whether this session has used a second factor' }),
    support_email: SupportEmail,
    version: Type.String({ example: '0.1.0' }),
    environments: Type.Array(EnvironmentName),
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
  },
  { title: 'Session' },
);

export const UserTokenView = Type.Object({ ...TokenView.properties, role: RoleName }, { title: 'UserToken' });
export const LinkView = Type.Object(
  {
    email: EmailAddress,
    purpose: Type.Enum(['invitation', 'password_reset'], { title: 'LinkPurpose' }),
    organization_name: Type.Optional(Type.String({ example: 'Acme Trading' })),
  },
  { title: 'Link' },
);
export const NewTotpView = Type.Object(
  {
    secret: Type.String({
      description: 'Base32 secret to type into an authenticator app',
      example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    }),
    uri: Type.String({
      description: 'otpauth URI to show as a QR code',
      example: 'otpauth://totp/Portico:ada@partner.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    }),
  },
  { title: 'NewTotp' },
);
export const RecoveryCodesView = Type.Object(
  { recovery_codes: Type.Array(Type.String({ example: 'k7qm-2xvd-9prt' })) },
  { title: 'RecoveryCodes' },
);
export const SessionListView = Type.Object(
  {
    objects: Type.Array(
      Type.Object(
        {
          guid: Guid,
          created_at: Timestamp,
          last_seen_at: Timestamp,
          address: Type.Optional(Type.String({ example: '198.51.100.7' })),
          user_agent: Type.Optional(
            Type.String({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' }),
          ),
          current: Type.Boolean({ description: 'Whether this is the session of the request' }),
        },
        { title: 'AccountSession' },
      ),
    ),
  },
  { title: 'AccountSessionList' },
);

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
