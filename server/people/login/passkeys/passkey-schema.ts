import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type Static } from 'typebox';
import { Guid, strictObject, Timestamp } from '../../../infrastructure/http/requests/schemas.ts';
import type { Passkey } from './passkeys.ts';

export type PasskeyRequest = AuthenticationResponseJSON;
export type PasskeyCreation = RegistrationResponseJSON;

const MAX_NAME_CHARACTERS = 64;
/** A credential's id has at most 1,023 bytes (WebAuthn, section 4). */
const MAX_ID_CHARACTERS = 1_364;
/** Without attestation the longest part is a public key; dashboard bodies are limited to 16 KiB. */
const MAX_PART_CHARACTERS = 8_192;

const Id = Type.String({ maxLength: MAX_ID_CHARACTERS });
const Part = Type.String({ maxLength: MAX_PART_CHARACTERS, description: 'base64url' });

/** Output of `PublicKeyCredential.toJSON()`. Browsers add fields, so unknown ones are accepted. */
const credential = {
  id: Id,
  rawId: Id,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Optional(Type.Object({})),
};
const Assertion = Type.Object({
  ...credential,
  response: Type.Object({ clientDataJSON: Part, authenticatorData: Part, signature: Part }),
});
const Attestation = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: Part,
    attestationObject: Part,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
  }),
});

export const PasskeyLogin = strictObject({ challenge_id: Guid, response: Assertion });
export const NewPasskey = strictObject({
  name: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' }),
  response: Attestation,
});

/** Options for `navigator.credentials`, passed through unchanged. */
export const PasskeyLoginOptions = Type.Object(
  { challenge_id: Guid, challenge: Type.String() },
  { additionalProperties: true },
);
export const PasskeyCreationOptions = Type.Object(
  { challenge: Type.String() },
  { additionalProperties: true },
);

export const PasskeyView = Type.Object({
  guid: Guid,
  name: Type.String(),
  created_at: Timestamp,
  last_used_at: Type.Optional(Timestamp),
});
export const PasskeyListView = Type.Object({ objects: Type.Array(PasskeyView) });

export function viewPasskey({ guid, name, created_at, last_used_at }: Passkey): Static<typeof PasskeyView> {
  return {
    guid,
    name,
    created_at: created_at.toISOString(),
    ...(last_used_at === null ? {} : { last_used_at: last_used_at.toISOString() }),
  };
}
