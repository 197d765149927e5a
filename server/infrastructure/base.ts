import type { Audit } from './audit/service.ts';
import type { Database } from './database/database.ts';
import type { Clock } from './runtime/clock.ts';
import type { Guids } from './runtime/guid.ts';
import type { Log } from './runtime/log.ts';
import type { Metrics } from './runtime/metrics.ts';

/** The parts that nearly every module uses. */
export type Base = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  metrics: Metrics;
  log: Log;
};
