import { createHmac } from 'node:crypto';
import { isEqualInConstantTime } from '../../infrastructure/runtime/constant-time.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import { type AlertType, kindOf } from '../kinds.ts';

export type UnsubscribeLinks = ReturnType<typeof createUnsubscribeLinks>;
type Subject = { organizationGuid: string; memberGuid: string; type: AlertType };

const PURPOSE = 'alert unsubscribe';
const SIGNATURE_BYTES = 16;

/**
 * Links that turn off the emails of one member, Organization and type, without a login. They can do nothing else and do
 * not expire: the link of an old email has to work too.
 */
export function createUnsubscribeLinks({ encryption, baseUrl }: { encryption: Encryption; baseUrl: string }) {
  function sign(payload: string, keyId: string): Buffer | undefined {
    const key = encryption.deriveKey(PURPOSE, keyId);
    return key && createHmac('sha256', key).update(payload).digest().subarray(0, SIGNATURE_BYTES);
  }

  return {
    urlOf({ organizationGuid, memberGuid, type }: Subject): string {
      const payload = [encryption.currentKeyId, organizationGuid, memberGuid, type].join('~');
      return `${baseUrl}/unsubscribe/${payload}~${sign(payload, encryption.currentKeyId)?.toString('base64url')}`;
    },

    read(token: string): Subject | undefined {
      const [keyId = '', organizationGuid = '', memberGuid = '', type = '', signature = '', ...more] =
        token.split('~');
      if (more.length > 0 || !isGuid(organizationGuid) || !isGuid(memberGuid) || !kindOf(type))
        return undefined;
      const expected = sign([keyId, organizationGuid, memberGuid, type].join('~'), keyId);
      const given = Buffer.from(signature, 'base64url');
      if (!expected || !isEqualInConstantTime(given, expected)) return undefined;
      return { organizationGuid, memberGuid, type: type as AlertType };
    },
  };
}
