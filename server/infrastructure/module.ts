import { createFailedAuthentications } from './audit/failed-authentications.ts';
import { createAudit } from './audit/service.ts';
import type { Base } from './base.ts';
import type { CompleteConfig } from './config/generated-secrets.ts';
import { reservedConnections } from './database/connections/connection-counts.ts';
import { createNotifications } from './database/connections/notifications.ts';
import { createDatabase, type DatabaseStream } from './database/database.ts';
import { createPartitions } from './database/partitions/partitions.ts';
import { createIdempotencyKeys } from './idempotency/service.ts';
import { createRateLimits } from './rate-limits/service.ts';
import type { Clock, Timers } from './runtime/clock.ts';
import { createEncryption } from './runtime/encryption.ts';
import { createGuids, type RandomBytes } from './runtime/guid.ts';
import type { Log } from './runtime/log.ts';
import { createMetrics } from './runtime/metrics.ts';
import type { Secret } from './runtime/secret.ts';

type Deps = {
  config: CompleteConfig;
  databaseUrl: Secret;
  log: Log;
  clock: Clock;
  /** For health checks of database connections, which take real time also when the clock is virtual. */
  databaseTimers: Timers;
  databaseStream: DatabaseStream | undefined;
  randomBytes: RandomBytes;
  processMetrics: boolean | undefined;
};

/** The database and the parts that know no product word. */
export function createInfrastructure({ config, databaseUrl: url, log, clock, ...deps }: Deps) {
  const { databaseTimers: timers, databaseStream: stream, randomBytes } = deps;
  const { databaseConnections: connections, retentionDays, auditRetentionDays } = config;
  const metrics = createMetrics({ ofProcess: deps.processMetrics, timers });
  const guids = createGuids({ clock, randomBytes });
  const encryption = createEncryption({ masterKeys: config.masterKeys, randomBytes });
  const reserved = reservedConnections(connections);
  const database = createDatabase({ url, connections, reserved, log, timers, stream });
  const audit = createAudit({ queries: database.lists, clock, guids });
  const base: Base = { database, clock, guids, audit, metrics, log };
  return {
    base,
    encryption,
    notifications: createNotifications({ url, queries: database.queries, log, timers, stream }),
    rateLimits: createRateLimits({ queries: database.reserved, clock, timers, log }),
    idempotencyKeys: createIdempotencyKeys({ ...base, encryption }),
    partitions: createPartitions({ database, clock, log, retentionDays, auditRetentionDays }),
    failedAuthentications: createFailedAuthentications({ database, audit, clock, log }),
  };
}
