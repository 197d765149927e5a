import type { Static } from 'typebox';
import type { ApplicationView, CreatedApplicationView } from '../../server/applications/schema.ts';
import type { AuditRecordView } from '../../server/audit/schema.ts';
import type { RecoveryView } from '../../server/deliveries/recovery-schema.ts';
import type { DeliveryView, DetailedDeliveryView } from '../../server/deliveries/schema.ts';
import type { EventView } from '../../server/events/schema.ts';
import type { BankView } from '../../server/organizations/schema.ts';
import type { CreatedSubscriptionView, SubscriptionView } from '../../server/subscriptions/schema.ts';
import type { Role } from '../../server/tokens/roles.ts';

/** What the service answers: the server's own schemas, so that the compiler sees when they part. */
export type Application = Static<typeof ApplicationView>;
export type CreatedApplication = Static<typeof CreatedApplicationView>;
export type Bank = Static<typeof BankView>;
export type Subscription = Static<typeof SubscriptionView>;
export type CreatedSubscription = Static<typeof CreatedSubscriptionView>;
export type Event = Static<typeof EventView>;
export type Delivery = Static<typeof DeliveryView>;
export type DetailedDelivery = Static<typeof DetailedDeliveryView>;
export type Attempt = DetailedDelivery['attempts'][number];
export type Recovery = Static<typeof RecoveryView>;
export type AuditEntry = Static<typeof AuditRecordView>;
export type { Role };

export type Environment = 'sandbox' | 'production';

export type List<Item> = { total: number; page: number; per_page: number; objects: Item[]; next?: string };

export type IssuedToken = { access_token: string; expires_in: number; scope: string; role: Role };

export type Organization = {
  guid: string;
  name: string;
  live: boolean;
  features: string[];
  role: Role;
};

export type Session = {
  member: { guid: string; email: string; name?: string; has_totp: boolean; passkey_count: number };
  organizations: Organization[];
  support_email: string;
  version: string;
  environments: Environment[];
};

export type Link = {
  email: string;
  purpose: 'invitation' | 'password_reset';
  organization_name?: string;
  has_password: boolean;
};

export type Member = {
  guid: string;
  email: string;
  name?: string;
  role: Role;
  state: 'invited' | 'active';
  created_at: string;
  last_seen_at?: string;
};
export type InvitedMember = Member & { invitation_link?: string };

export type Passkey = { guid: string; name: string; created_at: string; last_used_at?: string };

export type LoginSession = {
  guid: string;
  created_at: string;
  last_seen_at: string;
  address?: string;
  user_agent?: string;
  current: boolean;
};

export type Range = '1h' | '24h' | '7d';

export type EndpointStatistics = {
  subscription_guid: string;
  completed: number;
  failed_attempts: number;
  success_rate?: number;
  p50_ms?: number;
  p99_ms?: number;
};

type StatisticsPoint = { at: string; completed: number; failed_attempts: number; events: number };

export type DeliveryStatistics = {
  range: Range;
  step_seconds: number;
  subscriptions: EndpointStatistics[];
  points: StatisticsPoint[];
};

export type LiveDelivery = Pick<
  Delivery,
  | 'guid'
  | 'subscription_guid'
  | 'subscription_event_guid'
  | 'event_type'
  | 'state'
  | 'failure_kind'
  | 'response_status'
  | 'response_time_ms'
> & { attempted_at: string };

export type StoredFile = {
  guid: string;
  bank_guid: string;
  customer_guid: string;
  type: string;
  filename: string;
  content_type: string;
  state: 'storing' | 'completed' | 'failed';
  failure_code?: string;
  size?: number;
  sha256?: string;
  created_at: string;
  completed_at?: string;
  failed_at?: string;
  upload_url?: string;
  upload_expires_at?: string;
  download_url?: string;
};

/** Of any kind that the sandbox has; what is beyond these fields depends on the kind. */
export type SandboxObject = {
  guid: string;
  bank_guid: string;
  customer_guid?: string;
  state?: string;
  created_at: string;
  updated_at: string;
} & Record<string, unknown>;
