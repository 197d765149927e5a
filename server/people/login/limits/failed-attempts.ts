import type { FailedAuthentications } from '../../../infrastructure/audit/failed-authentications.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Members } from '../../members/service.ts';
import type { From } from '../entry.ts';

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/** Looked up for an address that nobody has, so that known and unknown addresses cost the same queries. */
export const NOBODY = '0'.repeat(32);

/** Wrong passwords, codes and passkeys in the audit record, at the login and with a session or link. */
export function createFailedAttempts({
  failedAuthentications,
  members,
}: {
  failedAuthentications: FailedAuthentications;
  members: Members;
}) {
  return {
    /** For each Organization of the person; without a known person, for the operator. Returns the failure. */
    note(
      failure: Failure,
      { path, from, memberGuid }: { path: string; from: From; memberGuid: string | undefined },
    ): Failure {
      const { address, requestId } = from;
      const about = { objectType: 'account', reason: failure.code, path, address, requestId } as const;
      failedAuthentications.note(about, async () => {
        const teams = await members.organizationsOf(memberGuid ?? NOBODY);
        if (memberGuid === undefined) return undefined;
        return { id: memberGuid, organizationGuids: teams.map(({ organization }) => organization.guid) };
      });
      return failure;
    },
  };
}
