import { isDeepStrictEqual } from 'node:util';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import { NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { Subscriptions } from '../../webhooks/subscriptions/service.ts';
import { checkUrl } from '../../webhooks/subscriptions/url.ts';
import { setWaiting } from '../checks/store.ts';
import * as store from './store.ts';

export type AlertSettings = ReturnType<typeof createAlertSettings>;
export type Thresholds = { waiting: number | undefined; bySubscription: Record<string, number> };
/** `shown` is the host and the end of the path; the rest of the URL is a secret. */
export type Slack = { shown: string | undefined; postedAt: Date | undefined; failure: string | undefined };
/** `stored` is the encrypted URL, which another one replaces. */
export type SlackTarget = { url: Secret; stored: Buffer; allowPrivate: boolean };

const REENCRYPTION_BATCH = 500;
/** A character that no URL contains: it would be percent-encoded (RFC 3986). */
const MASK = '…';
const SHOWN_CHARACTERS = 4;
/** The end of a shorter path would be a good part of its secret. */
const MIN_MASKED_CHARACTERS = 24;
const BOTH_ENVIRONMENTS = ['production', 'sandbox'] as const;

type Deps = Base & {
  organizations: Organizations;
  subscriptions: Subscriptions;
  revocations: Revocations;
  encryption: Encryption;
  /** `PORTICO_WEBHOOK_ALLOW_PRIVATE`: also http and private addresses, unless the Organization is live. */
  allowPrivate: boolean;
};

export function createAlertSettings(deps: Deps) {
  const { database, clock, audit, organizations, subscriptions, revocations, encryption } = deps;
  const { allowPrivate } = deps;
  const { queries } = database;

  function slackOf(row: store.AlertSettingsRow | undefined): Slack {
    const encrypted = row?.slack_url_encrypted;
    return {
      shown: encrypted ? maskUrl(encryption.decrypt(encrypted, contextOf(row.organization_guid))) : undefined,
      postedAt: row?.slack_posted_at ?? undefined,
      failure: row?.slack_failure ?? undefined,
    };
  }

  /** Clients send back what they read, where the URL is masked. */
  function isSameUrl(
    { organization_guid, slack_url_encrypted: encrypted }: store.AlertSettingsRow,
    url?: Secret,
  ) {
    if (!encrypted || !url) return !encrypted && !url;
    try {
      const stored = encryption.decrypt(encrypted, contextOf(organization_guid));
      return [stored, maskUrl(stored)].includes(url.reveal());
    } catch {
      // Its master key is lost: it can only be replaced.
      return false;
    }
  }

  async function allowsPrivate(organizationGuid: string): Promise<boolean | Failure> {
    const organization = await organizations.get(organizationGuid);
    return isFailure(organization) ? organization : allowPrivate && !organization.live;
  }

  function checkSlackUrl(url: string, isPrivate: boolean): Failure | undefined {
    return checkUrl(url, isPrivate ? 'sandbox' : 'production');
  }

  function changeSlack(
    actor: Actor,
    organizationGuid: string,
    url: Secret | undefined,
    precondition?: Precondition<Slack>,
  ): Promise<Slack | Failure> {
    return database.transaction(async (transaction) => {
      const current = await store.lockSettings(transaction, organizationGuid);
      const differs = precondition?.(slackOf(current));
      if (differs) return differs;
      if (isSameUrl(current, url)) return slackOf(current);
      if (url?.reveal().includes(MASK))
        return new Failure('invalid_parameter', 'url is masked; send the whole URL');
      const slack_url_encrypted = url ? encryption.encrypt(url.reveal(), contextOf(organizationGuid)) : null;
      const row = await store.updateSettings(transaction, organizationGuid, {
        ...{ slack_url_encrypted, slack_posted_at: null, slack_failure: null },
      });
      const changes = { slack: slackOf(row).shown ?? 'removed' };
      await audit.record(transaction, actor, settingsChange(organizationGuid, changes));
      return (await revocations.checkAuthor(transaction, actor)) ?? slackOf(row);
    });
  }

  const guidsOf = (organizationGuid: string) =>
    subscriptions.guidsOf({
      ...{ organizationGuid, environments: BOTH_ENVIRONMENTS, deletedAfter: clock.now() },
    });

  return {
    async thresholds(organizationGuid: string): Promise<Thresholds> {
      const own = await guidsOf(organizationGuid);
      return thresholdsAmong(own, await store.selectSettings(queries, organizationGuid));
    },

    async changeThresholds(
      actor: Actor,
      organizationGuid: string,
      input: { waiting?: number | undefined; bySubscription?: Record<string, number> | undefined },
      precondition?: Precondition<Thresholds>,
    ): Promise<Thresholds | Failure> {
      const own = await guidsOf(organizationGuid);
      return database.transaction(async (transaction) => {
        const row = await store.lockSettings(transaction, organizationGuid);
        const { bySubscription: stored } = thresholdsOf(row);
        // Clients send back what they read before a subscription was deleted.
        const foreign = Object.keys(input.bySubscription ?? {}).find(
          (guid) => !own.includes(guid) && stored[guid] === undefined,
        );
        if (foreign !== undefined)
          return new Failure('invalid_parameter', `subscriptions: there is no subscription ${foreign}`);
        const current = thresholdsAmong(own, row);
        const differs = precondition?.(current);
        if (differs) return differs;
        const wanted = {
          waiting: input.waiting === undefined ? current.waiting : input.waiting || undefined,
          bySubscription: among(own, input.bySubscription ?? current.bySubscription),
        };
        if (isDeepStrictEqual(wanted, current)) return current;
        await store.updateSettings(transaction, organizationGuid, {
          waiting_threshold: wanted.waiting ?? null,
          waiting_thresholds: JSON.stringify(wanted.bySubscription),
        });
        // The alert about the earlier number must not stand for one about this.
        const changed = own.filter((guid) => thresholdOf(guid, wanted) !== thresholdOf(guid, current));
        const endpoints = changed.map((subscriptionGuid) => ({ organizationGuid, subscriptionGuid }));
        if (endpoints.length > 0) await setWaiting(transaction, endpoints, null);
        const changes = { waiting_threshold: wanted.waiting ?? 0, subscriptions: wanted.bySubscription };
        await audit.record(transaction, actor, settingsChange(organizationGuid, changes));
        return wanted;
      });
    },

    async slack(organizationGuid: string): Promise<Slack> {
      return slackOf(await store.selectSettings(queries, organizationGuid));
    },

    async setSlack(
      actor: Actor,
      organizationGuid: string,
      url: string,
      precondition?: Precondition<Slack>,
    ): Promise<Slack | Failure> {
      const isPrivate = await allowsPrivate(organizationGuid);
      if (isFailure(isPrivate)) return isPrivate;
      return (
        checkSlackUrl(url, isPrivate) ?? changeSlack(actor, organizationGuid, new Secret(url), precondition)
      );
    },

    async removeSlack(actor: Actor, organizationGuid: string): Promise<Failure | undefined> {
      const removed = await changeSlack(actor, organizationGuid, undefined);
      return isFailure(removed) ? removed : undefined;
    },

    /** Undefined without a URL, and for a live Organization whose URL was set before it went live and is not https. */
    async slackTarget(organizationGuid: string): Promise<SlackTarget | undefined> {
      const encrypted = (await store.selectSettings(queries, organizationGuid))?.slack_url_encrypted;
      if (!encrypted) return undefined;
      const url = new Secret(encryption.decrypt(encrypted, contextOf(organizationGuid)));
      const isPrivate = await allowsPrivate(organizationGuid);
      if (isFailure(isPrivate) || checkSlackUrl(url.reveal(), isPrivate)) return undefined;
      return { url, stored: encrypted, allowPrivate: isPrivate };
    },

    /** False if the URL was replaced or removed meanwhile. */
    recordSlackOutcome: (
      organizationGuid: string,
      { stored }: SlackTarget,
      failure: string | undefined,
    ): Promise<boolean> =>
      store.updateSlackOutcome(queries, organizationGuid, stored, {
        ...{ slack_posted_at: clock.now(), slack_failure: failure ?? null },
      }),

    withSlack: store.selectOrganizationsWithSlack,

    /** A page of Organizations that chose a number; `after` is the guid of the last one. */
    async withThreshold(after: string | undefined, limit: number) {
      const rows = await store.selectSettingsWithThreshold(queries, after ?? NIL_GUID, limit);
      return rows.map((row) => ({ organizationGuid: row.organization_guid, ...thresholdsOf(row) }));
    },

    /** The thresholds, locked until the transaction ends. */
    lockThresholds: async (transaction: Transaction, organizationGuid: string) =>
      thresholdsOf(await store.lockSettings(transaction, organizationGuid)),

    /** Re-encrypts the URLs with the current master key; returns the number of changed ones. */
    async reencrypt(transaction: Transaction): Promise<number> {
      let changed = 0;
      for (let after = NIL_GUID; ; ) {
        const rows = await store.selectSlackUrlsForUpdate(transaction, after, REENCRYPTION_BATCH);
        for (const { organization_guid: guid, slack_url_encrypted: encrypted } of rows) {
          const slack_url_encrypted = encryption.reencrypt(encrypted, contextOf(guid));
          if (!slack_url_encrypted) continue;
          await store.updateSettings(transaction, guid, { slack_url_encrypted });
          changed += 1;
        }
        if (rows.length < REENCRYPTION_BATCH) return changed;
        after = rows.at(-1)?.organization_guid ?? NIL_GUID;
      }
    },
  };
}

function thresholdsOf(row: store.AlertSettingsRow | undefined): Thresholds {
  return {
    waiting: row?.waiting_threshold ?? undefined,
    bySubscription: { ...row?.waiting_thresholds },
  };
}

/** The threshold of a subscription: its own, or that of all. */
export function thresholdOf(guid: string, { waiting, bySubscription }: Thresholds): number | undefined {
  return bySubscription[guid] ?? waiting;
}

/** Without the numbers of deleted subscriptions, which stay stored until the next change. */
function thresholdsAmong(guids: readonly string[], row: store.AlertSettingsRow | undefined): Thresholds {
  const { waiting, bySubscription } = thresholdsOf(row);
  return { waiting, bySubscription: among(guids, bySubscription) };
}

function among(guids: readonly string[], bySubscription: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(bySubscription).filter(([guid]) => guids.includes(guid)));
}

function maskUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}/${MASK}${pathname.length < MIN_MASKED_CHARACTERS ? '' : url.slice(-SHOWN_CHARACTERS)}`;
}

export function contextOf(organizationGuid: string): string {
  return `alert slack url:${organizationGuid}`;
}

function settingsChange(organizationGuid: string, changes: Record<string, unknown>) {
  return {
    action: 'alert_settings.update',
    organizationGuid,
    objectType: 'organization',
    objectId: organizationGuid,
    changes,
  } as const;
}
