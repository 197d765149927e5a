import type { World } from '../world/world.ts';

/** Invariants 1, 2 and 7, by reading the tables while no transaction is in progress. */
type Row = Record<string, unknown>;

const GUID = (column: string) => `replace(${column}::text, '-', '')`;

/** Nothing is forgotten: each unfinished delivery is in the queue or in a batch, and nothing else is. */
export async function checkQueue({ side, model }: World): Promise<void> {
  const { rows: forgotten } = await side.query<Row>(`
    select ${GUID('d.guid')} as guid, ${GUID('d.event_guid')} as event from deliveries as d
    where completed_at is null and failed_at is null
      and not exists (select 1 from delivery_queue as q where q.delivery_guid = d.guid)
      and not exists (select 1 from delivery_batches as b where d.guid = any(b.delivery_guids))
    limit 1`);
  model.check(forgotten.length === 0, () => `delivery forgotten: ${JSON.stringify(forgotten[0])}`);
  const { rows: finished } = await side.query<Row>(`
    select ${GUID('d.guid')} as guid from deliveries as d join delivery_queue as q on q.delivery_guid = d.guid
    where completed_at is not null or failed_at is not null limit 1`);
  model.check(finished.length === 0, () => `finished delivery in the queue: ${JSON.stringify(finished[0])}`);
}

/** The counters per minute equal the deliveries. Those created as failed are counted later, and a crash may lose them. */
export async function checkCounters({ side, model }: World): Promise<void> {
  const { rows } = await side.query<Row>(`
    select ${GUID('s.guid')} as subscription, c.completed, c.failed, d.completed as deliveries_completed,
           d.failed as deliveries_failed, d.created_as_failed
    from subscriptions as s
    cross join lateral (
      select coalesce(sum(completed), 0)::int as completed, coalesce(sum(failed), 0)::int as failed
      from delivery_counters where subscription_guid = s.guid) as c
    cross join lateral (
      select count(completed_at)::int as completed,
             (count(failed_at) filter (where not (attempt_count = 0 and failed_at = created_at)))::int as failed,
             (count(failed_at) filter (where attempt_count = 0 and failed_at = created_at))::int as created_as_failed
      from deliveries where subscription_guid = s.guid) as d
    where c.completed <> d.completed or c.failed not between d.failed and d.failed + d.created_as_failed limit 1`);
  model.check(rows.length === 0, () => `counters differ from the deliveries: ${JSON.stringify(rows[0])}`);
}

/** Every acknowledged event is stored, with exactly one first delivery for each entitled subscription. */
export async function checkEvents({ side, model }: World): Promise<void> {
  const { rows: events } = await side.query<Row>(`
    select ${GUID('guid')} as guid, ${GUID('organization_guid')} as organization, environment from events`);
  const stored = new Set(events.map(({ guid }) => guid));
  for (const event of model.events.values())
    model.check(
      stored.has(event.guid) || event.acknowledgedAt === undefined,
      () => `acknowledged event ${event.guid} is lost`,
    );
  const { rows: deliveries } = await side.query<Row & { count: number }>(`
    select ${GUID('event_guid')} as event, ${GUID('subscription_guid')} as subscription, count(*)::int as count
    from deliveries where requested_as is null group by 1, 2`);
  const counts = new Map(
    deliveries.map(({ event, subscription, count }) => [`${event} ${subscription}`, count]),
  );
  const { rows: subscriptions } = await side.query<Row>(`
    select ${GUID('guid')} as guid, ${GUID('organization_guid')} as organization, environment, failed_at,
           coalesce(deleted_at, scheduled_deletion_at) as ends_at from subscriptions`);
  const rowOf = new Map(subscriptions.map((row) => [row.guid, row]));
  for (const { event, subscription } of deliveries) {
    const owner = rowOf.get(subscription);
    const own = events.find(({ guid }) => guid === event);
    model.check(
      own === undefined ||
        (own.organization === owner?.organization && own.environment === owner?.environment),
      () => `event ${event} has a delivery to another tenant's subscription ${subscription}`,
    );
  }
  for (const event of model.events.values()) {
    if (!stored.has(event.guid)) continue;
    for (const subscription of model.subscriptions) {
      const { guid } = subscription;
      if (guid === undefined || subscription.organizationGuid !== event.organizationGuid) continue;
      if (subscription.environment !== event.environment) continue;
      const row = rowOf.get(guid);
      const endsAt = Math.min(
        ...[row?.failed_at, row?.ends_at].map((at) => (at instanceof Date ? at.getTime() : Infinity)),
      );
      const count = counts.get(`${event.guid} ${guid}`) ?? 0;
      const isEntitled =
        Number(subscription.createdAt) < event.calledAt &&
        endsAt > event.settledAt + 60_000 &&
        event.acknowledgedAt !== undefined;
      const isExcluded = subscription.calledAt > event.settledAt || endsAt < event.calledAt - 60_000;
      model.check(
        isEntitled ? count === 1 : isExcluded ? count === 0 : count <= 1,
        () => `event ${event.guid} has ${count} first deliveries to ${subscription.url}`,
      );
    }
  }
}

/** Invariant 4: each body that arrived is that of the stored event, also of events that the service creates itself. */
export async function checkBodies({ side, model, endpoints }: World): Promise<void> {
  const { rows } = await side.query<Record<string, string | null>>(`
    select ${GUID('guid')} as guid, ${GUID('organization_guid')} as organization_guid,
           ${GUID('bank_guid')} as bank_guid, event_type, ${GUID('object_guid')} as object_guid, environment
    from events`);
  const expected = new Map(
    rows.map(({ bank_guid: bank, ...row }) => {
      const { guid, organization_guid, ...rest } = row;
      return [
        guid,
        JSON.stringify({ guid, organization_guid, ...(bank ? { bank_guid: bank } : {}), ...rest }),
      ];
    }),
  );
  for (const { url, headers, body } of endpoints.received) {
    const stored = expected.get(String(headers['webhook-id']));
    model.check(
      stored === body || stored === undefined,
      () => `a body sent to ${url} differs from its event: ${body}`,
    );
  }
}
