import type { Static } from 'typebox';
import type { AlertView, PreferencesView, UnreadAlertsView } from '../../server/alerts/schema.ts';
import type { AlertSettingsView, SlackTestView, SlackView } from '../../server/alerts/settings/schema.ts';
import type {
  ApplicationView,
  CreatedApplicationView,
} from '../../server/credentials/applications/schema.ts';
import type { BankView, Feature, SecondFactorView } from '../../server/credentials/organizations/schema.ts';
import type { FileView } from '../../server/files/schema.ts';
import type { Found } from '../../server/lookup/schema.ts';
import type { AuditEntry } from '../../server/people/audit-entries/schema.ts';
import type { PasskeyView } from '../../server/people/login/passkeys/passkey-schema.ts';
import type {
  LinkView,
  PasswordResetView,
  SessionListView,
  SessionView,
  UserTokenView,
} from '../../server/people/login/schema.ts';
import type { InvitedMemberView, MemberView } from '../../server/people/members/schema.ts';
import type {
  NewSavedFilter as NewSavedFilterSchema,
  SavedFilterView,
} from '../../server/people/saved-filters/schema.ts';
import type { LoggedRequestBody } from '../../server/request-log/schema.ts';
import type { Role } from '../../server/tokens/roles.ts';
import type { SignedRequestView } from '../../server/webhooks/deliveries/attempts/attempt-schema.ts';
import type { HealthView, TimelineView } from '../../server/webhooks/deliveries/health/health-schema.ts';
import type { LiveAttemptView } from '../../server/webhooks/deliveries/live/live-schema.ts';
import type {
  PreviewView,
  RecoveryView,
} from '../../server/webhooks/deliveries/redelivery/jobs/redelivery-schema.ts';
import type {
  DeliveryView,
  DetailedDeliveryView,
  TargetsView,
} from '../../server/webhooks/deliveries/schema.ts';
import type { Range, StatisticsView } from '../../server/webhooks/deliveries/statistics/statistics-schema.ts';
import type { EventView, ListedEventView } from '../../server/webhooks/events/schema.ts';
import type {
  InboxRequestSummaryView,
  InboxRequestView,
  InboxView,
} from '../../server/webhooks/inboxes/schema.ts';
import type {
  CreatedSubscriptionView,
  SubscriptionView,
} from '../../server/webhooks/subscriptions/schema.ts';

/** Derived from the server's schemas, so that a change of the API is a compile error here. */
export type Application = Static<typeof ApplicationView>;
export type CreatedApplication = Static<typeof CreatedApplicationView>;
export type Bank = Static<typeof BankView>;
export type Subscription = Static<typeof SubscriptionView>;
export type CreatedSubscription = Static<typeof CreatedSubscriptionView>;
export type Event = Static<typeof EventView>;
export type ListedEvent = Static<typeof ListedEventView>;
export type Delivery = Static<typeof DeliveryView>;
export type DetailedDelivery = Static<typeof DetailedDeliveryView>;
export type Attempt = DetailedDelivery['attempts'][number];
export type SignedRequest = Static<typeof SignedRequestView>;
export type DeliveringSubscriptions = Static<typeof TargetsView>;
export type Recovery = Static<typeof RecoveryView>;
export type RecoveryKind = Recovery['kind'];
export type RecoveryPreview = Static<typeof PreviewView>;
export type Alert = Static<typeof AlertView>;
export type UnreadAlerts = Static<typeof UnreadAlertsView>;
export type AlertPreferences = Static<typeof PreferencesView>;
export type AlertSettings = Static<typeof AlertSettingsView>;
export type AlertSlack = Static<typeof SlackView>;
export type AlertSlackTest = Static<typeof SlackTestView>;
export type LoggedRequest = LoggedRequestBody;
export type { AuditEntry, Feature, Found, Role };

export type Environment = 'sandbox' | 'production';

export type List<Item> = { total: number; page: number; per_page: number; objects: Item[]; next?: string };

export type IssuedToken = Static<typeof UserTokenView>;
export type Session = Static<typeof SessionView>;
export type Organization = Session['organizations'][number];
export type PasswordReset = Static<typeof PasswordResetView>;
export type Link = Static<typeof LinkView>;
export type LoginSession = Static<typeof SessionListView>['objects'][number];
export type Passkey = Static<typeof PasskeyView>;

export type SavedFilter = Static<typeof SavedFilterView>;
export type NewSavedFilter = Static<typeof NewSavedFilterSchema>;

export type Member = Static<typeof MemberView>;
export type MemberPolicy = Static<typeof SecondFactorView>;
export type InvitedMember = Static<typeof InvitedMemberView>;

export type { Range };
export type DeliveryStatistics = Static<typeof StatisticsView>;
export type EndpointStatistics = DeliveryStatistics['subscriptions'][number];
export type EndpointHealth = Static<typeof HealthView>;
export type EndpointTimeline = Static<typeof TimelineView>;
export type Inbox = Static<typeof InboxView>;
export type InboxAnswer = Inbox['answer'];
export type InboxRequestSummary = Static<typeof InboxRequestSummaryView>;
export type InboxRequest = Static<typeof InboxRequestView>;
export type LiveDelivery = Static<typeof LiveAttemptView>;

export type StoredFile = Static<typeof FileView>;

/** The fields that all kinds of sandbox objects share. */
export type SandboxObject = {
  guid: string;
  bank_guid: string;
  customer_guid?: string;
  state?: string;
  created_at: string;
  updated_at: string;
} & Record<string, unknown>;
