import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Queries } from '../../infrastructure/database/database.ts';
import { later } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import { firstGuidAt } from '../../infrastructure/runtime/guid.ts';
import type { Members } from '../../people/members/service.ts';
import type { Role } from '../../tokens/roles.ts';
import type { Caller } from '../../tokens/verifying/verifier.ts';
import { type AlertType, emailTypesOf, kindOf } from '../kinds.ts';
import type { Alerts } from '../service.ts';
import * as store from './store.ts';

export type AlertPreferences = ReturnType<typeof createAlertPreferences>;
export type UnreadAlerts = { unread: number; readThrough: string };
export type Preferences = { available: AlertType[]; emails: AlertType[] };

/** Guids run ahead of the clock under load. */
const READ_MARGIN_MS = 60_000;

type Deps = Pick<Base, 'database' | 'clock' | 'audit'> & {
  alerts: Alerts;
  members: Members;
  freezes: Freezes;
};

/** The alerts that a member has read and the types they want emails about, separate for each Organization. */
export function createAlertPreferences({ database, clock, audit, alerts, members, freezes }: Deps) {
  const { queries } = database;
  const keyOf = ({ organizationGuid, id }: Caller) => ({ organizationGuid, memberGuid: id });

  /** What happened before a person was invited is not news to them. */
  async function joinedAt({ organizationGuid, id }: Caller): Promise<string> {
    const member = await members.get(organizationGuid, id);
    return firstGuidAt(isFailure(member) ? new Date(0) : member.created_at);
  }

  async function roleOf({ organizationGuid, id }: Caller): Promise<Role | undefined> {
    const member = await members.get(organizationGuid, id);
    return isFailure(member) ? undefined : member.role;
  }

  /** What has not happened yet cannot be read: a high guid would hide every later alert. */
  function present(guid: string): string {
    const latest = firstGuidAt(later(clock.now(), READ_MARGIN_MS));
    return guid < latest ? guid : latest;
  }

  function preferencesOf(role: Role | undefined, muted: readonly string[]): Preferences {
    const available = role === undefined ? [] : emailTypesOf(role);
    return { available, emails: available.filter((type) => !muted.includes(type)) };
  }

  return {
    async unread(caller: Caller): Promise<UnreadAlerts> {
      const stored = await store.selectAlertMember(queries, keyOf(caller));
      const readThrough = stored?.read_through ?? (await joinedAt(caller));
      return { unread: await alerts.countUnread(caller, readThrough), readThrough };
    },

    async markRead(
      caller: Caller,
      guid: string,
      precondition?: Precondition<UnreadAlerts>,
    ): Promise<UnreadAlerts | Failure> {
      const key = keyOf(caller);
      const joined = await joinedAt(caller);
      const readThrough = await database.transaction(async (transaction) => {
        const { read_through: current } = await store.lockAlertMember(transaction, key);
        const differs = precondition?.({ unread: 0, readThrough: current ?? joined });
        return differs ?? (await store.updateReadThrough(transaction, key, present(guid)));
      });
      if (isFailure(readThrough)) return readThrough;
      return { unread: await alerts.countUnread(caller, readThrough), readThrough };
    },

    async get(caller: Caller): Promise<Preferences> {
      const stored = await store.selectAlertMember(queries, keyOf(caller));
      return preferencesOf(await roleOf(caller), stored?.muted_types ?? []);
    },

    async change(
      actor: Actor,
      caller: Caller,
      wanted: readonly string[] | undefined,
      precondition?: Precondition<Preferences>,
    ): Promise<Preferences | Failure> {
      const key = keyOf(caller);
      const role = await roleOf(caller);
      return database.transaction(async (transaction) => {
        const { muted_types: muted } = await store.lockAlertMember(transaction, key);
        const current = preferencesOf(role, muted);
        const differs = precondition?.(current);
        if (differs) return differs;
        const emails = wanted ?? current.emails;
        const isAvailable = (type: string) => current.available.some((available) => available === type);
        const foreign = emails.find((type) => !isAvailable(type));
        if (foreign !== undefined)
          return new Failure(
            'invalid_parameter',
            `email_types must be among available_types; ${foreign} is not sent to your role`,
          );
        const off = current.available.filter((type) => !emails.includes(type));
        // Kept for a role that the member may have again.
        const others = muted.filter((type) => !isAvailable(type));
        if (off.length + others.length === muted.length && off.every((type) => muted.includes(type)))
          return current;
        await store.updateMutedTypes(transaction, key, [...others, ...off]);
        await audit.record(transaction, actor, mutedChange(key, { muted: off }));
        return preferencesOf(role, [...others, ...off]);
      });
    },

    /** By the link of an email. */
    unsubscribe(actor: Actor, key: store.MemberKey, type: AlertType): Promise<Failure | undefined> {
      return database.transaction(async (transaction) => {
        const frozen = await freezes.check(key.organizationGuid, transaction);
        if (frozen) return frozen;
        const { muted_types: muted } = await store.lockAlertMember(transaction, key);
        if (muted.includes(type)) return undefined;
        await store.updateMutedTypes(transaction, key, [...muted.filter(kindOf), type]);
        await audit.record(transaction, actor, mutedChange(key, { muted: [type], by: 'email link' }));
        return undefined;
      });
    },

    /** Whether a member wants no email about a type. */
    async mutedBy(on: Queries, organizationGuids: readonly string[]) {
      const rows = await store.selectMuted(on, organizationGuids);
      const muted = new Set(
        rows.flatMap((row) =>
          row.muted_types.map((type) => `${row.organization_guid} ${row.member_guid} ${type}`),
        ),
      );
      return (organizationGuid: string, memberGuid: string, type: string) =>
        muted.has(`${organizationGuid} ${memberGuid} ${type}`);
    },
  };
}

function mutedChange({ organizationGuid, memberGuid }: store.MemberKey, changes: Record<string, unknown>) {
  return {
    action: 'alert_preferences.update',
    organizationGuid,
    objectType: 'member',
    objectId: memberGuid,
    changes,
  } as const;
}
