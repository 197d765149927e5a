import type { Generated } from 'kysely';
import type { EnvironmentName } from './environment.ts';
import type { RequestTables } from './requests.ts';

export type WebhookTables = {
  events: EventsTable;
  event_resends: EventResendsTable;
  event_counters: EventCountersTable;
  event_count_writers: EventCountWritersTable;
  subscriptions: SubscriptionsTable;
  deliveries: DeliveriesTable;
  delivery_queue: DeliveryQueueTable;
  delivery_batches: DeliveryBatchesTable;
  delivery_attempts: DeliveryAttemptsTable;
  delivery_counters: DeliveryCountersTable;
  endpoint_errors: EndpointErrorsTable;
  dispatchers: DispatchersTable;
  endpoint_notices: EndpointNoticesTable;
  subscription_recoveries: SubscriptionRecoveriesTable;
};

type EventsTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string | null;
  event_type: string;
  object_guid: string;
  environment: EnvironmentName;
  created_at: Date;
};

type EventResendsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  event_guid: string;
  subscription_guid: string;
  created_at: Date;
};

type EventCountersTable = {
  organization_guid: string;
  environment: EnvironmentName;
  minute: Date;
  events: number;
};

type EventCountWritersTable = {
  guid: string;
  sequence: number;
  written_at: Date;
};

type SubscriptionsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  name: string;
  url: string;
  signing_key_encrypted: Buffer;
  protection_enabled: boolean;
  created_at: Date;
  updated_at: Date;
  activated_at: Date | null;
  first_delivery_guid: string | null;
  deliveries_failing_since: Date | null;
  recovered_at: Date | null;
  /** The last change of the URL or end of a stop: a pause, or disabled by the operator. */
  retries_early_before: Generated<Date | null>;
  failed_at: Date | null;
  disabled_at: Date | null;
  paused_at: Date | null;
  /** The Organization is frozen. */
  frozen: Generated<boolean>;
  endpoint_version: Generated<number>;
  replaces_guid: string | null;
  scheduled_deletion_at: Date | null;
  deleted_at: Date | null;
  /** Set by a trigger. */
  url_changed_at: Generated<Date | null>;
};

export type FailureKind = 'timeout' | 'unreachable' | 'rejected';

type DeliveriesTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  subscription_guid: string;
  event_guid: string;
  bank_guid: string | null;
  event_type: string;
  object_guid: string;
  attempt_count: number;
  failing_since: Date | null;
  failure_kind: FailureKind | null;
  response_status: number | null;
  response_time_ms: number | null;
  response_excerpt: string | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  /** `completed_at` if it is more than five minutes after `created_at` or after a failed attempt. */
  late_completed_at: Date | null;
  failed_at: Date | null;
  /** Null if an event created the delivery. */
  requested_as: Generated<'redelivery' | 'test_event' | 'recovery' | null>;
  requested_by_type: Generated<'user' | 'application' | 'recovery' | null>;
  requested_by: Generated<string | null>;
};

type DeliveryQueueTable = {
  subscription_guid: string;
  delivery_guid: string;
  due_at: Date;
  scheduled_at: Date;
  leased_by: string | null;
};

type DeliveryBatchesTable = {
  guid: string;
  subscription_guid: string;
  leased_by: string;
  delivery_guids: string[];
  created_at: Date;
};

type DeliveryAttemptsTable = {
  delivery_guid: string;
  number: number;
  attempted_at: Date;
  duration_ms: number;
  outcome: 'completed' | FailureKind;
  response_status: number | null;
  response_excerpt: string | null;
  reason: string | null;
  url: Generated<string | null>;
  address: Generated<string | null>;
  user_agent: Generated<string | null>;
  response_headers: Generated<Record<string, string> | null>;
};

type DeliveryCountersTable = {
  subscription_guid: string;
  minute: Date;
  completed: number;
  failed_attempts: number;
  response_times: number[];
  failed: Generated<number>;
  completed_by_retry: Generated<number>;
  timeouts: Generated<number>;
};

type EndpointErrorsTable = {
  subscription_guid: string;
  kind: FailureKind;
  status: number;
  failing_since: Date;
  count: number;
  last_at: Date;
  delivery_guid: string;
  attempt_number: number;
};

type DispatchersTable = {
  guid: string;
  lease_until: Date;
};

type EndpointNoticesTable = {
  guid: string;
  dispatcher_guid: string;
  subscription_guid: string;
};

/** A redelivery job sends failed deliveries again, waiting ones now, or all events again. */
export type RedeliveryKind = 'failed' | 'waiting' | 'all';

type SubscriptionRecoveriesTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  subscription_guid: string;
  kind: Generated<RedeliveryKind>;
  since: Date;
  until: Date;
  total: number;
  done: number;
  /** Null for jobs of earlier versions. */
  redelivered: number | null;
  reached: string | null;
  /** Null for jobs of earlier versions. */
  actor_type: RequestTables['audit_records']['actor_type'] | null;
  actor: string | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  /** Also set when the job is cancelled. */
  failed_at: Date | null;
  cancelled_at: Date | null;
};
