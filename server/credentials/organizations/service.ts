import type { Static } from 'typebox';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { changesOf, replacedBy } from '../../infrastructure/runtime/changes.ts';
import type { Failure, Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Events } from '../../webhooks/events/service.ts';
import { createBanks, organizationNotFound } from './banks.ts';
import { checkFeature } from './features.ts';
import { type Freezes, refusal as frozenRefusal } from './freezes.ts';
import {
  DEFAULT_FEATURES,
  type Feature,
  type NewOrganization,
  type OrganizationChanges,
  type OwnOrganizationChanges,
  type SecondFactorChanges,
} from './schema.ts';
import { checkSecondFactor, requiresInProduction, settingAfter } from './second-factor.ts';
import * as store from './store.ts';

export type { Bank, BankOwner, Organization } from './store.ts';
export type Organizations = ReturnType<typeof createOrganizations>;

type Deps = Base & {
  events: Events;
  freezes: Freezes;
  /** Returns a Failure while the Organization must not go live. */
  beforeGoingLive(transaction: Transaction, organizationGuid: string): Promise<Failure | undefined>;
};

/** Organizations and their Banks. */
export function createOrganizations(deps: Deps) {
  const { database, clock, guids, audit, freezes, beforeGoingLive } = deps;
  const { queries } = database;

  async function change(
    transaction: Transaction,
    actor: Actor,
    guid: string,
    input: Static<typeof OrganizationChanges>,
    precondition?: Precondition<store.Organization>,
  ): Promise<store.Organization | Failure> {
    const current = await store.selectOrganizationForUpdate(transaction, guid);
    if (!current) return organizationNotFound();
    if (current.frozen_at !== null) return frozenRefusal();
    const differs = precondition?.(current);
    if (differs) return differs;
    // Compared with what clients see: the stored null stands for the default.
    const shown = { ...current, second_factor_in_production: requiresInProduction(current) };
    const changes = changesOf(shown, input);
    if (!changes) return current;
    const notReady = changes.live ? await beforeGoingLive(transaction, guid) : undefined;
    if (notReady) return notReady;
    await audit.record(transaction, actor, {
      ...organizationChange('organization.update', guid, changes),
      before: replacedBy(changes, shown),
    });
    return store.updateOrganization(transaction, guid, {
      ...changes,
      second_factor_in_production: settingAfter(current, changes),
      updated_at: clock.now(),
    });
  }

  function update(
    actor: Actor,
    guid: string,
    input: Static<typeof OrganizationChanges>,
    precondition?: Precondition<store.Organization>,
  ): Promise<store.Organization | Failure> {
    return database.transaction((transaction) => change(transaction, actor, guid, input, precondition));
  }

  async function get(guid: string): Promise<store.Organization | Failure> {
    return (await store.selectOrganization(queries, guid)) ?? organizationNotFound();
  }

  return {
    ...createBanks(deps),

    create(
      actor: Actor,
      input: Static<typeof NewOrganization>,
      recordAnswer: RecordAnswer<store.Organization> = recordNothing,
    ): Promise<store.Organization> {
      return database.transaction(async (transaction) => {
        const now = clock.now();
        const { live = false } = input;
        const organization: store.Organization = {
          guid: guids.next(),
          name: input.name,
          live,
          features: [...(input.features ?? DEFAULT_FEATURES)],
          second_factor_roles: [...(input.second_factor_roles ?? [])],
          second_factor_in_production: settingAfter({ live, second_factor_in_production: null }, input),
          frozen_at: null,
          freezing_at: null,
          removing_at: null,
          grant_guid: null,
          created_at: now,
          updated_at: now,
        };
        await store.insertOrganization(transaction, organization);
        const change = organizationChange('organization.create', organization.guid, input);
        await audit.record(transaction, actor, change);
        await recordAnswer(transaction, organization);
        return organization;
      });
    },

    update,

    changeSecondFactor: (
      transaction: Transaction,
      actor: Actor,
      guid: string,
      input: Static<typeof SecondFactorChanges>,
      precondition?: Precondition<store.Organization>,
    ): Promise<store.Organization | Failure> => change(transaction, actor, guid, input, precondition),

    get,

    /** For partners, who see their own Organization only. */
    getOwn: async (organizationGuid: string, guid: string): Promise<store.Organization | Failure> =>
      guid === organizationGuid ? get(guid) : organizationNotFound(),

    listOwn: (organizationGuid: string, page: Page): Promise<PageOf<store.Organization>> =>
      store.selectOwnOrganizations(database.lists, organizationGuid, page),

    updateOwn: async (
      actor: Actor,
      organizationGuid: string,
      guid: string,
      input: Static<typeof OwnOrganizationChanges>,
      precondition?: Precondition<store.Organization>,
    ): Promise<store.Organization | Failure> =>
      guid === organizationGuid ? update(actor, guid, input, precondition) : organizationNotFound(),

    /** A refusal while the Organization is frozen; to be checked in the transaction of a change. */
    checkFrozen: freezes.check,

    /** Blocks changes of the Organization until the transaction ends. */
    async lockForShare(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return unfrozen(await store.selectOrganizationForShare(transaction, guid));
    },

    /** Whether the Organization is live or has a production bank. */
    async isInProduction(transaction: Transaction, guid: string): Promise<boolean> {
      const organization = await store.selectOrganization(transaction, guid);
      if (organization?.live) return true;
      return store.hasBankIn(transaction, guid, 'production');
    },

    /** Serializes transactions that check a limit of the Organization before adding to it. */
    async lockForUpdate(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return unfrozen(await store.selectOrganizationForUpdate(transaction, guid));
    },

    async checkFeature(guid: string, feature: Feature): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkFeature(organization, feature) : organizationNotFound();
    },

    async checkSecondFactor(
      guid: string,
      call: Parameters<typeof checkSecondFactor>[1],
    ): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkSecondFactor(organization, call) : organizationNotFound();
    },

    /** Guids that exist, in one query. */
    async findAll(guidsToFind: readonly string[], within: Queries = queries): Promise<ReadonlySet<string>> {
      if (guidsToFind.length === 0) return new Set();
      return new Set(await store.selectOrganizationGuids(within, guidsToFind));
    },

    /** By guid, on the connections reserved for logins. */
    async findAllForLogin(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, store.Organization>> {
      if (guidsToFind.length === 0) return new Map();
      const found = await store.selectOrganizationsByGuid(database.authentication.queries, guidsToFind);
      return new Map(found.map((organization) => [organization.guid, organization]));
    },

    list: (page: Page) => store.selectOrganizations(database.lists, page),

    firstOwn: () => store.selectFirstOwnOrganization(database.queries),
  };
}

/** A change that waited for the lock of a freeze is refused. */
function unfrozen(organization: store.Organization | undefined): store.Organization | Failure {
  if (!organization) return organizationNotFound();
  return organization.frozen_at === null ? organization : frozenRefusal();
}

function organizationChange(
  action: `organization.${string}`,
  guid: string,
  changes: Record<string, unknown>,
) {
  return { action, organizationGuid: guid, objectType: 'organization', objectId: guid, changes };
}
