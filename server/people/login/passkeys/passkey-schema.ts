import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  nameSchema,
  Timestamp,
  viewSchema,
} from '../../../infrastructure/http/requests/schemas.ts';
import type { Passkey } from './passkeys.ts';

export type PasskeyRequest = AuthenticationResponseJSON;
export type PasskeyCreation = RegistrationResponseJSON;

const MAX_NAME_CHARACTERS = 64;
/** A credential's id has at most 1,023 bytes (WebAuthn, section 4). */
const MAX_ID_CHARACTERS = 1_364;
/** Without attestation the longest part is a public key; dashboard bodies are limited to 16 KiB. */
const MAX_PART_CHARACTERS = 8_192;

const Id = Type.String({
  maxLength: MAX_ID_CHARACTERS,
  description: 'base64url',
  example: 'AbCdEf0123456789',
});
const Part = Type.String({
  maxLength: MAX_PART_CHARACTERS,
  description: 'base64url',
  example: 'eyJ0eXBlIjoid2ViYXV0aG4ifQ',
});

/** As `PublicKeyCredential.toJSON()` returns them. Browsers add fields, so unknown ones are ignored. */
const credential = {
  id: Id,
  rawId: Id,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Optional(Type.Object({})),
};
const Assertion = viewSchema('PasskeyAssertion', {
  ...credential,
  response: viewSchema('PasskeyAssertionResponse', {
    clientDataJSON: Part,
    authenticatorData: Part,
    signature: Part,
  }),
});
const Attestation = viewSchema('PasskeyAttestation', {
  ...credential,
  response: viewSchema('PasskeyAttestationResponse', {
    clientDataJSON: Part,
    attestationObject: Part,
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: 32, example: 'internal' }), { maxItems: 16 }),
    ),
  }),
});

export const PasskeyLogin = inputSchema('PasskeyLogin', { challenge_id: Guid, response: Assertion });
export const NewPasskey = inputSchema('NewPasskey', {
  name: nameSchema(MAX_NAME_CHARACTERS, 'Laptop'),
  response: Attestation,
});

const Challenge = Type.String({ description: 'base64url', example: 'dGhlIGNoYWxsZW5nZSBvZiBhIGxvZ2lu' });
/** Passed to `navigator.credentials` with every field of WebAuthn. */
export const PasskeyLoginOptions = Type.Object(
  { challenge_id: Guid, challenge: Challenge },
  { additionalProperties: true, title: 'PasskeyLoginOptions' },
);
export const PasskeyCreationOptions = Type.Object(
  { challenge: Challenge },
  { additionalProperties: true, title: 'PasskeyCreationOptions' },
);

export const PasskeyView = viewSchema('Passkey', {
  guid: Guid,
  name: Type.String({ example: 'Laptop' }),
  created_at: Timestamp,
  last_used_at: Type.Optional(Timestamp),
});
export const PasskeyListView = viewSchema('PasskeyList', { objects: Type.Array(PasskeyView) });

export function viewPasskey({ guid, name, created_at, last_used_at }: Passkey): Static<typeof PasskeyView> {
  return {
    guid,
    name,
    created_at: created_at.toISOString(),
    ...(last_used_at === null ? {} : { last_used_at: last_used_at.toISOString() }),
  };
}
