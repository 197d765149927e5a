import { RESPONSE_TIME_BOUNDS_MS } from '../../server/webhooks/deliveries/recording/counters.ts';
import type { TestApp } from '../app/app.ts';
import type { Tenant } from '../app/tenant.ts';

const MINUTE_MS = 60_000;

function minuteOf({ clock }: TestApp, agoMs: number): Date {
  return new Date(Math.floor((clock.now().getTime() - agoMs) / MINUTE_MS) * MINUTE_MS);
}

/** Counters as if the deliveries had happened this long ago; successes took up to 5 ms, slow ones over 5 s. */
export async function countDeliveries(
  app: TestApp,
  subscription_guid: string,
  agoMs: number,
  { completed = 0, failed = 0, slow = 0 }: { completed?: number; failed?: number; slow?: number },
): Promise<void> {
  const response_times = RESPONSE_TIME_BOUNDS_MS.map((_, bucket) => (bucket === 0 ? completed - slow : 0));
  response_times.push(slow);
  const minute = minuteOf(app, agoMs);
  const row = { subscription_guid, minute, completed, failed_attempts: failed, response_times };
  await app.database.queries.insertInto('delivery_counters').values(row).execute();
}

export async function countEvents(
  app: TestApp,
  { organizationGuid }: Pick<Tenant, 'organizationGuid'>,
  environment: 'sandbox' | 'production',
  agoMs: number,
  events: number,
): Promise<void> {
  const row = {
    ...{ organization_guid: organizationGuid, environment },
    ...{ minute: minuteOf(app, agoMs), events },
  };
  await app.database.queries.insertInto('event_counters').values(row).execute();
}
