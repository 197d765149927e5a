import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createDatabase } from '../../server/infrastructure/database/database.ts';
import { databaseUrl } from '../../server/infrastructure/database/embedded/server/readiness.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { RESPONSE_TIME_BOUNDS_MS } from '../../server/webhooks/deliveries/recording/counters.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const WEEK_MS = 7 * DAY_MINUTES * MINUTE_MS;
/** Real counters of the service begin after this. */
const UNTIL_MINUTES_AGO = 5;
/** The line of PostgreSQL's `postmaster.pid` with its port. */
const PORT_LINE = 3;

/** Events per minute: at night, and the increase at the peak of the day, which lasts from 6 to 21 o'clock UTC. */
const AT_NIGHT = 3;
const BY_DAY = 8;
const DAY_FROM_HOUR = 6;
const DAY_HOURS = 15;
/** A simulated incident some hours ago: its duration in minutes and its share of failures. */
const TROUBLE = { fromMinutesAgo: 330, minutes: 50, share: 0.4 };

export type Place = { organization: string; healthy: string; failing: string };

/**
 * Fills the counters of the last day with generated, repeatable data, so that the charts have a shape, and dates the
 * endpoints back by a week.
 */
export async function addDay(dataDir: string, now: number, { organization, healthy, failing }: Place) {
  const [password, pidFile] = await Promise.all([
    readFile(join(dataDir, 'postgres.password'), 'utf8'),
    readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'),
  ]);
  const port = Number(pidFile.split('\n')[PORT_LINE]);
  const url = new Secret(databaseUrl({ port, password: password.trim() }));
  const log = createLog({ level: 'silent', terminal: false });
  const database = createDatabase({ url, connections: 1, log });
  const minutes = Array.from({ length: DAY_MINUTES - UNTIL_MINUTES_AGO }, (_, index) => {
    const ago = DAY_MINUTES - index;
    const minute = new Date((Math.floor(now / MINUTE_MS) - ago) * MINUTE_MS);
    const isTroubled = ago <= TROUBLE.fromMinutesAgo && ago > TROUBLE.fromMinutesAgo - TROUBLE.minutes;
    const events = eventsIn(minute);
    return { minute, events, failed: isTroubled ? Math.round(events * TROUBLE.share) : 0 };
  });
  await database.queries
    .insertInto('event_counters')
    .values(
      minutes.map(({ minute, events }) => {
        return { organization_guid: organization, environment: 'sandbox', minute, events };
      }),
    )
    .execute();
  await database.queries
    .insertInto('delivery_counters')
    .values(
      minutes.flatMap(({ minute, events, failed }) => [
        { subscription_guid: healthy, minute, ...answers(events, 0, 3) },
        { subscription_guid: failing, minute, ...answers(events, failed, 5) },
      ]),
    )
    .execute();
  await database.queries
    .updateTable('subscriptions')
    .set({ created_at: new Date(now - WEEK_MS) })
    .where('guid', 'in', [healthy, failing])
    .execute();
  await database.transaction(async (queries) => {
    // The timeline of the last day must not show their creation; replica mode skips the trigger that keeps audit records.
    await sql`set local session_replication_role = replica`.execute(queries);
    await queries
      .deleteFrom('audit_records')
      .where('action', '=', 'subscription.create')
      .where('object_id', 'in', [healthy, failing])
      .execute();
  });
  await database.close();
}

function eventsIn(minute: Date): number {
  const hour = minute.getUTCHours() + minute.getUTCMinutes() / 60;
  const height = Math.max(0, Math.sin(((hour - DAY_FROM_HOUR) / DAY_HOURS) * Math.PI));
  // Uneven like real traffic, and repeatable.
  const unevenness = Math.sin(minute.getTime() / 700_000) + Math.sin(minute.getTime() / 2_900_000);
  return Math.max(0, Math.round(AT_NIGHT + BY_DAY * height + unevenness));
}

/** Most responses take up to the bound of this bucket, a few up to the second one after it. */
function answers(completed: number, failed_attempts: number, bucket: number) {
  const response_times = new Array<number>(RESPONSE_TIME_BOUNDS_MS.length + 1).fill(0);
  const slower = Math.floor(completed / 8);
  response_times[bucket] = completed - slower;
  response_times[bucket + 2] = slower;
  return { completed, completed_by_retry: failed_attempts, failed_attempts, response_times };
}
