import type { FailedAuthentications } from '../../../infrastructure/audit/failed-authentications.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import { NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Members } from '../../members/service.ts';
import type { RequestSource } from '../request-source.ts';

export type Attempt = { path: string; source: RequestSource };
export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/** Audit records of wrong passwords, codes and passkeys. */
export function createFailedAttempts({
  failedAuthentications,
  members,
}: {
  failedAuthentications: FailedAuthentications;
  members: Members;
}) {
  return {
    /** Recorded in each Organization of the member; for an unknown address, only for the operator. Returns the failure. */
    record(
      failure: Failure,
      { path, source, memberGuid }: Attempt & { memberGuid: string | undefined },
    ): Failure {
      const { address, requestId } = source;
      const attempt = { objectType: 'account', reason: failure.code, path, address, requestId } as const;
      failedAuthentications.note(attempt, async () => {
        const memberships = await members.organizationsOf(memberGuid ?? NIL_GUID);
        if (memberGuid === undefined) return undefined;
        return {
          id: memberGuid,
          organizationGuids: memberships.map(({ organization }) => organization.guid),
        };
      });
      return failure;
    },
  };
}
