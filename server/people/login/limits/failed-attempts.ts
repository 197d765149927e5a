import type { FailedAuthentications } from '../../../infrastructure/audit/failed-authentications.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Members } from '../../members/service.ts';
import type { From } from '../entry.ts';

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

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
    record(
      failure: Failure,
      { path, from, memberGuid }: { path: string; from: From; memberGuid: string | undefined },
    ): Failure {
      const { address, requestId } = from;
      const about = { objectType: 'account', reason: failure.code, path, address, requestId } as const;
      failedAuthentications.note(about, async () => {
        const teams = await members.organizationsOf(memberGuid ?? NIL_GUID);
        if (memberGuid === undefined) return undefined;
        return { id: memberGuid, organizationGuids: teams.map(({ organization }) => organization.guid) };
      });
      return failure;
    },
  };
}
