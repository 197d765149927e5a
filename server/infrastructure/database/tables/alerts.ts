import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { EnvironmentName } from './environment.ts';

export type AlertTables = {
  alerts: AlertsTable;
  alert_notices: AlertNoticesTable;
  alert_members: AlertMembersTable;
  alert_settings: AlertSettingsTable;
  alert_endpoints: AlertEndpointsTable;
};

type AlertsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName | null;
  type: string;
  occurrence: string;
  subscription_guid: string | null;
  details: JSONColumnType<Record<string, unknown>>;
  created_at: Date;
  notified_at: Date | null;
};

type AlertNoticesTable = {
  organization_guid: string;
  channel: 'email' | 'slack';
  recipient: string;
  type: string;
  pending: string[];
  due_at: Date | null;
  sent_at: Date | null;
  attempts: Generated<number>;
};

type AlertMembersTable = {
  organization_guid: string;
  member_guid: string;
  read_through: string | null;
  muted_types: Generated<string[]>;
};

type AlertSettingsTable = {
  organization_guid: string;
  waiting_threshold: number | null;
  waiting_thresholds: ColumnType<Record<string, number>, string | undefined, string>;
  slack_url_encrypted: Buffer | null;
  slack_posted_at: Date | null;
  slack_failure: string | null;
};

type AlertEndpointsTable = {
  organization_guid: string;
  subscription_guid: string;
  failing_since: Date | null;
  failing_minutes: number | null;
  waiting_since: Date | null;
};
