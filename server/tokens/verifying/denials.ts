import type { DenialAlerts } from '../../alerts/denials.ts';
import { createMergedRecords } from '../../infrastructure/audit/merged.ts';
import type { Audit } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { Caller } from './verifier.ts';

/** Audit records of calls from addresses outside the allowlist, merged by the minute. */
export type Denials = ReturnType<typeof createDenials>;

type Deps = { database: Database; audit: Audit; clock: Clock; log: Log; alerts: DenialAlerts };
export type DeniedCall = { address: string | undefined; requestId: string; path: string };

export function createDenials({ alerts, ...deps }: Deps) {
  const records = createMergedRecords(deps);
  return {
    record(
      { id, organizationGuid }: Pick<Caller, 'id' | 'organizationGuid'>,
      { address, requestId, path }: DeniedCall,
    ): void {
      alerts.note({ clientId: id, organizationGuid, address, requestId });
      records.note({
        group: id,
        source: String(address),
        actor: { type: 'application', id, address, requestId },
        organizationGuids: [organizationGuid],
        change: {
          action: 'access.deny',
          objectType: 'application',
          objectId: id,
          changes: { reason: 'ip_not_allowed', path },
        },
      });
    },
    async flush(options: { all?: boolean } = {}): Promise<void> {
      await records.flush(options);
      await alerts.idle();
    },
  };
}
