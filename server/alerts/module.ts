import type { Freezes } from '../credentials/organizations/freezes.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import type { Base } from '../infrastructure/base.ts';
import type { RateLimits } from '../infrastructure/rate-limits/service.ts';
import type { Timers } from '../infrastructure/runtime/clock.ts';
import type { Encryption } from '../infrastructure/runtime/encryption.ts';
import type { Mail } from '../people/login/links/mail.ts';
import type { People } from '../people/members/people.ts';
import type { Members } from '../people/members/service.ts';
import type { Revocations } from '../tokens/revoking/revocations.ts';
import type { EndpointHealth } from '../webhooks/deliveries/health/health.ts';
import type { Transport } from '../webhooks/deliveries/sending/transport.ts';
import type { Subscriptions } from '../webhooks/subscriptions/service.ts';
import { createFailingCheck } from './checks/failing.ts';
import { type CountWaiting, createWaitingCheck } from './checks/waiting.ts';
import { createNotifier } from './notices/notifier.ts';
import { createUnsubscribeLinks } from './notices/unsubscribe.ts';
import { createAlertPreferences } from './preferences/preferences.ts';
import type { Alerts } from './service.ts';
import { createAlertSettings } from './settings/settings.ts';
import { createSlackTest } from './settings/slack-test.ts';

export type AlertsModule = ReturnType<typeof createAlertsModule>;

type Deps = Base & {
  alerts: Alerts;
  timers: Timers;
  encryption: Encryption;
  organizations: Organizations;
  freezes: Freezes;
  subscriptions: Subscriptions;
  revocations: Revocations;
  people: People;
  members: Members;
  rateLimits: RateLimits;
  endpointHealth: EndpointHealth;
  countWaiting: CountWaiting;
  mail: Mail | undefined;
  transport: Transport;
  config: { baseUrl: string; webhookAllowPrivate: boolean };
};

/** Checks that raise alerts by time, settings, and the messages about alerts. */
export function createAlertsModule({ config, ...deps }: Deps) {
  const { baseUrl, webhookAllowPrivate: allowPrivate } = config;
  const settings = createAlertSettings({ ...deps, allowPrivate });
  const preferences = createAlertPreferences(deps);
  const unsubscribeLinks = createUnsubscribeLinks({ encryption: deps.encryption, baseUrl });
  const notifier = createNotifier({ ...deps, settings, preferences, unsubscribeLinks, baseUrl });
  return {
    alerts: deps.alerts,
    people: deps.people,
    settings,
    preferences,
    unsubscribeLinks,
    notifier,
    slackTest: createSlackTest({ ...deps, settings, baseUrl }),
    checkFailing: createFailingCheck(deps),
    checkWaiting: createWaitingCheck({ ...deps, settings }),
    async sweep(): Promise<void> {
      await deps.alerts.sweep();
      await notifier.sweep();
    },
  };
}
