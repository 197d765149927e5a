import { sql } from 'kysely';
import { textArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { notFrozen } from '../../infrastructure/database/not-frozen.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type Channel = Row<'alert_notices'>['channel'];
/** A leased notice: `due_at` is the end of the lease. */
export type Notice = Row<'alert_notices'> & { due_at: Date };
export type NewNotice = Pick<Notice, 'organization_guid' | 'channel' | 'recipient' | 'type'> & {
  alertGuid: string;
};

/** Alerts without notices, locked until the transaction ends; those of another node are skipped. */
export function lockUnnotified(transaction: Transaction, limit: number) {
  return transaction
    .selectFrom('alerts')
    .select(['guid', 'organization_guid', 'type'])
    .where('notified_at', 'is', null)
    .where(notFrozen('alerts.organization_guid'))
    .orderBy('guid')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function markNotified(
  transaction: Transaction,
  guids: readonly string[],
  now: Date,
): Promise<void> {
  await sql`update alerts set notified_at = ${now} where guid = any(${uuidArray(guids)})`.execute(
    transaction,
  );
}

/** Adds alerts to the next message of their recipients, which is due when the last one is old enough. */
export async function addNotices(
  transaction: Transaction,
  notices: readonly NewNotice[],
  {
    now,
    maxPending,
    intervalMs,
  }: { now: Date; maxPending: number; intervalMs: Readonly<Record<Channel, number>> },
): Promise<void> {
  const interval = sql`case excluded.channel
    when 'email' then ${intervalMs.email}::float8 else ${intervalMs.slack}::float8 end * interval '1 millisecond'`;
  await sql`
    insert into alert_notices as n (organization_guid, channel, recipient, type, pending, due_at)
    select organization_guid, channel, recipient, type, array_agg(alert_guid order by alert_guid), ${now}
    from unnest(
      ${uuidArray(notices.map((notice) => notice.organization_guid))},
      ${textArray(notices.map(({ channel }) => channel))},
      ${uuidArray(notices.map(({ recipient }) => recipient))},
      ${textArray(notices.map(({ type }) => type))},
      ${uuidArray(notices.map(({ alertGuid }) => alertGuid))})
      as a(organization_guid, channel, recipient, type, alert_guid)
    group by organization_guid, channel, recipient, type
    order by organization_guid, channel, recipient, type
    on conflict (organization_guid, channel, recipient, type) do update set
      pending = (n.pending || excluded.pending)[
        greatest(1, cardinality(n.pending) + cardinality(excluded.pending) - ${maxPending} + 1):],
      due_at = coalesce(n.due_at, greatest(excluded.due_at, n.sent_at + ${interval}))`.execute(transaction);
}

/** Leases due notices of a channel to this process until `leaseUntil`. */
export async function claimDue(
  queries: Queries,
  channel: Channel,
  { now, leaseUntil, limit }: { now: Date; leaseUntil: Date; limit: number },
): Promise<Notice[]> {
  const { rows } = await sql<Notice>`
    with due as (
      select organization_guid, channel, recipient, type from alert_notices
      where channel = ${channel} and due_at <= ${now} and ${notFrozen('alert_notices.organization_guid')}
      order by due_at limit ${limit} for update skip locked
    )
    update alert_notices as n set due_at = ${leaseUntil}, attempts = n.attempts + 1
    from due
    where n.organization_guid = due.organization_guid and n.channel = due.channel
      and n.recipient = due.recipient and n.type = due.type
    returning n.*`.execute(queries);
  // The driver leaves the dashes of guids in arrays.
  return rows.map((row) => ({ ...row, pending: row.pending.map((guid) => guid.replaceAll('-', '')) }));
}

export async function selectNextDueAt(queries: Queries, channel: Channel): Promise<Date | undefined> {
  const row = await queries
    .selectFrom('alert_notices')
    .select('due_at')
    .where('channel', '=', channel)
    .where('due_at', 'is not', null)
    .where(notFrozen('alert_notices.organization_guid'))
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? undefined;
}

/**
 * Removes the alerts of a message; further ones are due at `nextDueAt`. After the loss of the lease only a sent message
 * counts: a mail server that is slower than the lease would get it again and again.
 */
export async function finishNotice(
  queries: Queries,
  notice: Notice,
  { sentAt, nextDueAt }: { sentAt: Date | null; nextDueAt: Date },
): Promise<void> {
  const which = sentAt ? isNotice : held;
  await sql`
    update alert_notices as n set
      pending = left_over.guids, attempts = 0, sent_at = coalesce(${sentAt}::timestamptz, n.sent_at, 'epoch'),
      due_at = case when cardinality(left_over.guids) > 0 then ${nextDueAt}::timestamptz end
    from (
      select array(
        select guid from unnest(current.pending) as guid where guid <> all(${uuidArray(notice.pending)}) order by guid
      ) as guids
      from alert_notices as current where ${which(notice, 'current')}
    ) as left_over
    where ${which(notice, 'n')}`.execute(queries);
}

/** Tries again at `at`. */
export async function postponeNotice(queries: Queries, notice: Notice, at: Date): Promise<void> {
  await sql`update alert_notices as n set due_at = ${at} where ${held(notice, 'n')}`.execute(queries);
}

/** Notices of removed recipients, and notices that could not be sent for long. */
export async function deleteStaleNotices(queries: Queries, before: Date, limit: number): Promise<void> {
  await sql`
    delete from alert_notices where ctid = any(array(
      select ctid from alert_notices
      where coalesce(due_at, sent_at) < ${before} limit ${limit} for update skip locked
    ))`.execute(queries);
}

function isNotice({ organization_guid, channel, recipient, type }: Notice, alias: string) {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('organization_guid')} = ${organization_guid} and ${column('channel')} = ${channel}
    and ${column('recipient')} = ${recipient} and ${column('type')} = ${type}`;
}

function held(notice: Notice, alias: string) {
  return sql`${isNotice(notice, alias)} and ${sql.ref(`${alias}.due_at`)} = ${notice.due_at}`;
}
