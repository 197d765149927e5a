import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { strictObject } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import type { People } from '../people/members/people.ts';
import { actorOf, requires } from '../tokens/access/access.ts';
import { membersIn } from './details.ts';
import type { AlertPreferences, Preferences } from './preferences/preferences.ts';
import {
  AlertView,
  PreferencesChanges,
  PreferencesView,
  UnreadAlertsChanges,
  UnreadAlertsView,
  viewAlert,
  viewPreferences,
  viewUnreadAlerts,
} from './schema.ts';
import type { AlertRow, Alerts } from './service.ts';

type Listed = { row: AlertRow; emails: ReadonlyMap<string, string> | undefined };
type Deps = {
  alerts: Alerts;
  people: People;
  preferences: AlertPreferences;
  /** Whether the service has a mail server. */
  hasMail: boolean;
};

/** Each alert type needs a scope besides, see `kinds.ts`: a list shows only the types that the token may see. */
export function registerAlerts(api: HttpServer, { alerts, people, preferences, hasMail }: Deps): void {
  const tags = ['Alerts'];
  const read = requires(['organization', 'user'], 'organizations:read');
  const own = requires(['user'], 'organizations:read');
  const params = strictObject({});

  registerList(api, '/alerts', {
    access: read,
    operationId: 'listAlerts',
    summary: 'List alerts: failing endpoints, changes of keys and team, denied calls, infected uploads',
    tags,
    filters: {
      guid: guidsFilter,
      type: wordsFilter,
      environment: environmentsFilter,
      subscription_guid: guidsFilter,
      ...createdAtFilters,
    },
    item: AlertView,
    view: ({ row, emails }: Listed) => viewAlert(row, emails),
    async list({ caller }, page, filters) {
      const found = await alerts.list(caller, page, filters);
      if (isFailure(found)) return found;
      const emails = caller.type === 'user' ? await people.emailsOf(membersIn(found.rows)) : undefined;
      return { ...found, rows: found.rows.map((row) => ({ row, emails })) };
    },
  });

  const unreadAlerts = {
    tags,
    params,
    item: UnreadAlertsView,
    view: viewUnreadAlerts,
    activity: ['unread'] as const,
  };
  registerGet(api, '/unread_alerts', {
    ...unreadAlerts,
    access: own,
    operationId: 'getUnreadAlerts',
    summary: 'Get the number of alerts that you have not read',
    get: ({ caller }) => preferences.unread(caller),
  });
  registerPatch(api, '/unread_alerts', {
    ...unreadAlerts,
    access: own,
    operationId: 'updateUnreadAlerts',
    summary: 'Mark alerts as read',
    body: UnreadAlertsChanges,
    change: ({ caller, body }, precondition) => preferences.markRead(caller, body.read_through, precondition),
  });

  const settings = {
    ...{ tags, params, item: PreferencesView },
    view: (found: Preferences) => viewPreferences(found, hasMail),
  };
  registerGet(api, '/alert_preferences', {
    ...settings,
    access: own,
    operationId: 'getAlertPreferences',
    summary: 'Get the alert types that you get emails about',
    get: ({ caller }) => preferences.get(caller),
  });
  registerPatch(api, '/alert_preferences', {
    ...settings,
    access: own,
    operationId: 'updateAlertPreferences',
    summary: 'Choose the alert types that you get emails about',
    body: PreferencesChanges,
    change: (request, precondition) => {
      const { caller, body } = request;
      return preferences.change(actorOf(request), caller, body.email_types, precondition);
    },
  });
}
