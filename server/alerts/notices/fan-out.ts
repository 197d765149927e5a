import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Members } from '../../people/members/service.ts';
import { kindOf } from '../kinds.ts';
import type { AlertPreferences } from '../preferences/preferences.ts';
import type { AlertSettings } from '../settings/settings.ts';
import * as store from './store.ts';

/** Between two messages of a recipient, Organization and type: alerts that follow each other closely share one. */
export const MESSAGE_INTERVAL_MS = { email: 3_600_000, slack: 60_000 };
/** Alerts of one transaction. */
const BATCH = 100;
/** Alerts that wait for the next message of a recipient; older ones remain in the dashboard only. */
const MAX_PENDING = 50;

type Deps = {
  database: Database;
  clock: Clock;
  members: Members;
  preferences: AlertPreferences;
  settings: AlertSettings;
};

/** Turns new alerts into notices for the members whose role gets them, and for Slack. Returns the number of alerts. */
export function createFanOut({ database, clock, members, preferences, settings }: Deps) {
  return (): Promise<number> =>
    database.transaction(async (transaction) => {
      const alerts = await store.lockUnnotified(transaction, BATCH);
      if (alerts.length === 0) return 0;
      const now = clock.now();
      const organizationGuids = [...new Set(alerts.map((alert) => alert.organization_guid))];
      const team = Map.groupBy(
        await members.activeIn(transaction, organizationGuids),
        ({ organizationGuid }) => organizationGuid,
      );
      const isMuted = await preferences.mutedBy(transaction, organizationGuids);
      const withSlack = new Set(await settings.withSlack(transaction, organizationGuids));
      const notices = alerts.flatMap(({ guid: alertGuid, organization_guid, type }) => {
        const notice = { alertGuid, organization_guid, type };
        const emails = (team.get(organization_guid) ?? [])
          .filter(({ role }) => kindOf(type)?.roles.includes(role))
          .filter(({ memberGuid }) => !isMuted(organization_guid, memberGuid, type))
          .map(({ memberGuid }) => ({ ...notice, channel: 'email' as const, recipient: memberGuid }));
        const slack = { ...notice, channel: 'slack' as const, recipient: organization_guid };
        return withSlack.has(organization_guid) ? [...emails, slack] : emails;
      });
      if (notices.length > 0)
        await store.addNotices(transaction, notices, {
          ...{ now, maxPending: MAX_PENDING, intervalMs: MESSAGE_INTERVAL_MS },
        });
      const guids = alerts.map(({ guid }) => guid);
      await store.markNotified(transaction, guids, now);
      return alerts.length;
    });
}
