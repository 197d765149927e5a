import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../server/infrastructure/config/config.ts';
import { completeSecrets } from '../server/infrastructure/config/generated-secrets.ts';
import { createTestDatabase } from '../testing/database/database.ts';
import { createPlan } from './agenda/coincidences.ts';
import { Side } from './database/side.ts';
import { createRandom } from './machine/random.ts';
import { runWorld } from './world/run.ts';
import { createWorld, OPERATOR_TOKEN } from './world/world.ts';

export type SeedOptions = {
  seed: number;
  days: number;
  /** Faults of the agenda to leave out, by their position among the faults. */
  without: readonly number[];
  writeTrace?: ((line: string) => void) | undefined;
};

export type SeedReport = {
  seed: number;
  days: number;
  hash: string;
  steps: number;
  events: number;
  attempts: number;
  duplicates: number;
  checks: number;
  faults: Record<string, number>;
  /** Undefined if every check passed. */
  failure: string | undefined;
  tail: readonly string[];
};

/** Keeps old versions of rows: the moment at which the server removes them decides where it writes the next ones. */
const OLD_SNAPSHOT = 'begin isolation level repeatable read; select 1';

/** Simulates one seed on a database of its own. */
export async function simulateSeed({ seed, days, without, writeTrace }: SeedOptions): Promise<SeedReport> {
  const testDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-simulation-'));
  const side = new Side(testDatabase.superuserUrl.reveal());
  await side.connect();
  const oldest = new pg.Client({ connectionString: testDatabase.superuserUrl.reveal() });
  await oldest.connect();
  await oldest.query(OLD_SNAPSHOT);
  const databaseUrl = testDatabase.url.reveal();
  const { retryMaxDelayMs, retentionDays } = createPlan(createRandom(String(seed)).fork('agenda'), days);
  const config = await completeSecrets(
    readConfig({
      PORTICO_DATABASE_URL: databaseUrl,
      PORTICO_DATABASE_CONNECTIONS: '5',
      PORTICO_DATA_DIR: dataDir,
      PORTICO_MIN_FREE_DISK_BYTES: '0',
      PORTICO_MASTER_KEY: 'a1'.repeat(32),
      PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
      PORTICO_RETENTION_DAYS: String(retentionDays),
      PORTICO_RETRY_MAX_DELAY: `${retryMaxDelayMs / 1_000}s`,
    }),
    () => {
      throw new Error('every secret is set');
    },
  );
  const world = await createWorld({ seed: String(seed), databaseUrl, side, config, writeTrace });
  let failure: string | undefined;
  try {
    await runWorld(world, { days, without: new Set(without) });
  } catch (error) {
    failure = error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
  }
  const { trace, model } = world;
  const report: SeedReport = {
    ...{ seed, days, hash: trace.hash(), steps: trace.steps(), failure, tail: failure ? trace.tail() : [] },
    ...{ events: model.events.size, attempts: model.requests.length, duplicates: model.duplicates.size },
    ...{ checks: model.checks(), faults: Object.fromEntries([...model.faultCounts].sort()) },
  };
  try {
    await world.close();
    await oldest.end();
    await side.end();
    await testDatabase.drop();
  } catch (error) {
    report.failure ??= `the seed could not be ended: ${String(error)}`;
  }
  await rm(dataDir, { recursive: true, force: true });
  return report;
}
