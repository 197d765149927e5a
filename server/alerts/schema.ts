import Type, { type Static } from 'typebox';
import {
  AnyObject,
  EnvironmentName,
  Guid,
  inputSchema,
  Timestamp,
  viewSchema,
} from '../infrastructure/http/requests/schemas.ts';
import { describeAlert } from './describe.ts';
import { ALERT_TYPES, kindOf } from './kinds.ts';
import type { Preferences, UnreadAlerts } from './preferences/preferences.ts';
import type { AlertRow } from './service.ts';

const AlertTypeName = Type.String({
  title: 'AlertType',
  description: `Types are added, never changed: ${ALERT_TYPES.join(', ')}`,
  example: 'endpoint.failing',
});

export const AlertView = viewSchema('Alert', {
  guid: Guid,
  type: AlertTypeName,
  severity: Type.Enum(['critical', 'warning', 'info'], {
    title: 'AlertSeverity',
    description: 'critical, warning or info',
    example: 'warning',
  }),
  environment: Type.Optional({
    ...EnvironmentName,
    description: 'Absent if the alert concerns both environments',
  }),
  subscription_guid: Type.Optional(Guid),
  title: Type.String({ example: 'Endpoint "Ledger" has failed for 10 minutes' }),
  message: Type.String({ example: 'ledger.partner.example has not answered with 2xx since 12:00 UTC.' }),
  details: {
    ...AnyObject,
    description: 'The values in title and message, by type',
    example: { name: 'Ledger', host: 'ledger.partner.example', failing_minutes: 10 },
  },
  created_at: Timestamp,
});

/** `emails` has those of the actors that the caller may see; undefined for API keys, which see none. */
export function viewAlert(
  row: AlertRow,
  emails: ReadonlyMap<string, string> | undefined,
): Static<typeof AlertView> {
  const { type, environment, subscription_guid: subscriptionGuid } = row;
  const { email: _, ...withoutEmail } = row.details;
  const details = emails ? row.details : withoutEmail;
  const actorEmail = emails?.get(String(details.actor));
  return {
    guid: row.guid,
    type,
    severity: kindOf(type)?.severity ?? 'info',
    ...(environment === null ? {} : { environment }),
    ...(subscriptionGuid === null ? {} : { subscription_guid: subscriptionGuid }),
    ...describeAlert({ type, details }, { actorEmail }),
    details,
    created_at: row.created_at.toISOString(),
  };
}

export const UnreadAlertsView = viewSchema('UnreadAlerts', {
  unread: Type.Integer({
    description: 'Alerts after read_through that you may see, counted up to 100',
    example: 3,
  }),
  read_through: { ...Guid, description: 'You have read this alert and all before it' },
});
export const UnreadAlertsChanges = inputSchema('UnreadAlertsChanges', {
  read_through: { ...Guid, description: 'Marks this alert and all before it as read. It never moves back' },
});

export function viewUnreadAlerts({ unread, readThrough }: UnreadAlerts): Static<typeof UnreadAlertsView> {
  return { unread, read_through: readThrough };
}

const EmailTypes = Type.Array(AlertTypeName, {
  maxItems: 100,
  uniqueItems: true,
  description: 'Types that you get an email about',
  example: [],
});
export const PreferencesView = viewSchema('AlertPreferences', {
  email_types: EmailTypes,
  available_types: Type.Array(AlertTypeName, {
    description: 'Types that members of your role can get emails about',
  }),
  email_available: Type.Boolean({ description: 'Whether the service has a mail server' }),
});
export const PreferencesChanges = inputSchema('AlertPreferencesChanges', {
  email_types: Type.Optional(EmailTypes),
});

export function viewPreferences(
  { available, emails }: Preferences,
  isMailAvailable: boolean,
): Static<typeof PreferencesView> {
  return { email_types: emails, available_types: available, email_available: isMailAvailable };
}
