import type { Organizations } from '../../credentials/organizations/service.ts';
import { createPolling, type Polling } from '../../infrastructure/background/polling.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import { type Clock, later, type Timers } from '../../infrastructure/runtime/clock.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { Mail } from '../../people/login/links/mail.ts';
import type { People } from '../../people/members/people.ts';
import type { Members } from '../../people/members/service.ts';
import type { Transport } from '../../webhooks/deliveries/sending/transport.ts';
import { describeAlert } from '../describe.ts';
import { membersIn } from '../details.ts';
import { type AlertType, kindOf } from '../kinds.ts';
import type { AlertPreferences } from '../preferences/preferences.ts';
import type { Alerts } from '../service.ts';
import type { AlertSettings } from '../settings/settings.ts';
import { alertEmail, type DescribedAlert } from './email.ts';
import { createFanOut, MESSAGE_INTERVAL_MS } from './fan-out.ts';
import { postToSlack, slackText } from './slack.ts';
import * as store from './store.ts';
import type { UnsubscribeLinks } from './unsubscribe.ts';

/** The outcome of a message. `dropped`: it has no recipient any more. */
type Outcome =
  | { kind: 'sent' | 'dropped' }
  | { kind: 'failed'; reason: string; permanent: boolean; retryAfterMs?: number | undefined };

const CHANNELS = ['email', 'slack'] as const;
/** Longer than the timeouts of the mail server and of Slack together. */
const LEASE_MS = 120_000;
const MAX_POLL_INTERVAL_MS = 10_000;
/** Messages that one process sends at once. */
const AT_ONCE = { email: 2, slack: 8 };
const FIRST_RETRY_MS = 30_000;
const MAX_RETRY_MS = 3_600_000;
/** Afterwards the alerts remain in the dashboard and the API only. */
const GIVE_UP_AFTER_MS = { email: 3 * 24 * 3_600_000, slack: 24 * 3_600_000 };
const STALE_NOTICE_MS = 40 * 24 * 3_600_000;
const SWEEP_BATCH = 10_000;

type Deps = {
  database: Database;
  clock: Clock;
  timers: Timers;
  log: Log;
  metrics: Metrics;
  alerts: Alerts;
  organizations: Organizations;
  people: People;
  members: Members;
  preferences: AlertPreferences;
  settings: AlertSettings;
  mail: Mail | undefined;
  transport: Transport;
  unsubscribeLinks: UnsubscribeLinks;
  baseUrl: string;
};

/**
 * Sends alerts by email and to Slack. The notices are rows that any process leases: an outage of the mail server delays
 * them, and a process that dies leaves them to another, which may send one twice.
 */
export function createNotifier(deps: Deps) {
  const { database, clock, timers, log, metrics, alerts, organizations, people, members } = deps;
  const { preferences, settings, mail, transport, unsubscribeLinks, baseUrl } = deps;
  const { queries } = database;
  const fanOut = createFanOut(deps);
  const pollings: Polling[] = [];

  async function describe({ organization_guid: guid, pending }: store.Notice): Promise<DescribedAlert[]> {
    const rows = await alerts.find(queries, guid, pending);
    const emails = await people.emailsOf(membersIn(rows));
    return rows.map((row) => ({
      ...describeAlert(row, { actorEmail: emails.get(String(row.details.actor)) }),
      guid: row.guid,
      createdAt: row.created_at,
      environment: row.environment ?? undefined,
    }));
  }

  async function sendEmail(notice: store.Notice, described: readonly DescribedAlert[], name: string) {
    const { organization_guid: organizationGuid, recipient: memberGuid, type } = notice;
    const [member, isMuted] = await Promise.all([
      members.get(organizationGuid, memberGuid),
      preferences.mutedBy(queries, [organizationGuid]),
    ]);
    if (isFailure(member) || member.accepted_at === null || !kindOf(type)?.roles.includes(member.role))
      return { kind: 'dropped' } as const;
    if (isMuted(organizationGuid, memberGuid, type)) return { kind: 'dropped' } as const;
    const message = alertEmail({
      to: member.email,
      organizationName: name,
      type,
      alerts: described,
      alertsUrl: alertsUrl(organizationGuid),
      unsubscribeUrl: unsubscribeLinks.urlOf({ organizationGuid, memberGuid, type: type as AlertType }),
      messageId: `<${described.at(-1)?.guid}.${memberGuid}@${new URL(baseUrl).hostname}>`,
    });
    return (mail as Mail).deliver(message).then(
      () => ({ kind: 'sent' }) as const,
      (error: { code?: string; responseCode?: number }) => {
        // The server refused this recipient or message. Any other error concerns the server, which comes back.
        const permanent =
          (error.responseCode ?? 0) >= 500 && ['EENVELOPE', 'EMESSAGE'].includes(String(error.code));
        // The error text is not logged: it may quote the message.
        return {
          kind: 'failed',
          reason: `${error.code} ${error.responseCode ?? ''}`.trim(),
          permanent,
        } as const;
      },
    );
  }

  async function sendSlack(
    { organization_guid: organizationGuid }: store.Notice,
    described: readonly DescribedAlert[],
    name: string,
  ): Promise<Outcome> {
    const target = await settings.slackTarget(organizationGuid);
    if (!target) return { kind: 'dropped' };
    const text = slackText(name, described, alertsUrl(organizationGuid));
    const outcome = await postToSlack(transport, target, text);
    const failure = outcome.kind === 'posted' ? undefined : outcome.reason;
    const isPresent = await settings.recordSlackOutcome(organizationGuid, target, failure);
    if (outcome.kind === 'posted') return { kind: 'sent' };
    return {
      kind: 'failed',
      reason: outcome.reason,
      // Another URL gets the message at the next attempt.
      permanent: outcome.gone && isPresent,
      retryAfterMs: outcome.retryAfterMs,
    };
  }

  function alertsUrl(organizationGuid: string): string {
    return `${baseUrl}/alerts?org=${organizationGuid}`;
  }

  async function send(notice: store.Notice): Promise<void> {
    const { channel } = notice;
    const known = await describe(notice);
    const earliest = later(clock.now(), -GIVE_UP_AFTER_MS[channel]);
    // Also when the mail server was set up only now: an old alert is not worth an email.
    const described = known.filter(({ createdAt }) => createdAt > earliest);
    const organization = await organizations.get(notice.organization_guid);
    const outcome: Outcome =
      described.length === 0 || isFailure(organization)
        ? { kind: 'dropped' }
        : await (channel === 'email' ? sendEmail : sendSlack)(notice, described, organization.name);
    const now = clock.now();
    const finish = (sentAt: Date | null) =>
      store.finishNotice(queries, notice, { sentAt, nextDueAt: later(now, MESSAGE_INTERVAL_MS[channel]) });
    if (outcome.kind !== 'failed') {
      if (outcome.kind === 'sent') metrics.alertNotices.inc({ channel, result: 'sent' });
      return finish(outcome.kind === 'sent' ? now : null);
    }
    const givenUp = outcome.permanent;
    metrics.alertNotices.inc({ channel, result: givenUp ? 'given_up' : 'failed' });
    const { organization_guid, type, attempts } = notice;
    log.warn(
      { channel, organization_guid, type, attempts, reason: outcome.reason, given_up: givenUp },
      'sending an alert failed',
    );
    if (givenUp) return finish(null);
    const backoffMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 10));
    const retryMs = Math.min(MAX_RETRY_MS, Math.max(backoffMs, outcome.retryAfterMs ?? 0));
    return store.postponeNotice(queries, notice, later(now, retryMs));
  }

  /** Returns the number of messages tried. */
  async function sendDue(channel: store.Channel): Promise<number> {
    const now = clock.now();
    const claimed = await store.claimDue(queries, channel, {
      ...{ now, leaseUntil: later(now, LEASE_MS), limit: AT_ONCE[channel] },
    });
    const results = await Promise.allSettled(claimed.map(send));
    // The lease ends by itself.
    for (const result of results)
      if (result.status === 'rejected')
        log.warn({ err: result.reason, channel }, 'could not handle a notice of an alert');
    return claimed.length;
  }

  const channelsOf = (withSlack: boolean) =>
    CHANNELS.filter((channel) => (channel === 'email' ? mail !== undefined : withSlack));

  function pollingOf(channel: store.Channel): Polling {
    return createPolling({
      ...{ clock, timers, log, maxIntervalMs: MAX_POLL_INTERVAL_MS, minIntervalMs: 0 },
      failureMessage: 'could not send alerts; will retry',
      async poll() {
        const progress = (await fanOut()) + (await sendDue(channel)) > 0;
        return { progress, nextDueAt: await store.selectNextDueAt(queries, channel) };
      },
    });
  }

  return {
    /** Email by processes with a mail server, Slack by processes that may call partners. */
    start({ withSlack }: { withSlack: boolean }): void {
      pollings.push(...channelsOf(withSlack).map(pollingOf));
      for (const polling of pollings) polling.wake();
    },

    wake(): void {
      for (const polling of pollings) polling.wake();
    },

    /** Sends everything that is due; for tests. */
    async drain(): Promise<void> {
      while ((await fanOut()) > 0);
      for (const channel of channelsOf(true)) while ((await sendDue(channel)) > 0);
    },

    sweep: () => store.deleteStaleNotices(queries, later(clock.now(), -STALE_NOTICE_MS), SWEEP_BATCH),

    async stop(): Promise<void> {
      await Promise.all(pollings.map((polling) => polling.stop()));
      await transport.close();
    },
  };
}
