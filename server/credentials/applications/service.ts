import type { Static } from 'typebox';
import type { Alerts } from '../../alerts/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { changesOf } from '../../infrastructure/runtime/changes.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import { checkApplicationScopes, holdsScope, scopesFor } from '../../tokens/scopes.ts';
import type { Bank, Organizations } from '../organizations/service.ts';
import { createdAlert, removedAlert, widenedAlerts } from './alerts.ts';
import { parseAllowlist } from './allowlists/allowlist.ts';
import type { ClientSecrets } from './client-secret.ts';
import { applicationChange } from './records.ts';
import type { ApplicationChanges, NewApplication } from './schema.ts';
import * as store from './store.ts';
import type { KeyUsage } from './usage.ts';

export type { Client, Owner } from './store.ts';
export type Applications = ReturnType<typeof createApplications>;
export type CreatedApplication = { application: store.Application; secret: Secret };

/** Key pairs of an Organization and all its banks. Rotations may exceed it, because a leaked pair must be replaced. */
const MAX_KEY_PAIRS = 10_000;
const MAX_KEY_PAIRS_IN_ROTATIONS = 2 * MAX_KEY_PAIRS;

/** `required`: every new key needs an IP allowlist; `optional`: only keys of live Organizations. */
export type AllowlistPolicy = 'required' | 'optional';

export type ApplicationsDeps = Base & {
  alerts: Alerts;
  organizations: Organizations;
  secrets: ClientSecrets;
  revocations: Revocations;
  usage: KeyUsage;
  /** Prefix length of the widest range in an allowlist. */
  allowlistMinPrefix: number;
};

type NewOwner = { organizationGuid: string; bank?: Bank; environment?: EnvironmentName | undefined };

/** Key pairs: client_id and client_secret of an Organization or of one of its Banks. */
export function createApplications(deps: ApplicationsDeps) {
  const { database, clock, guids, audit, alerts, organizations } = deps;
  const { secrets, revocations, usage, allowlistMinPrefix } = deps;

  /** Includes a use that this node has not written to the database yet. */
  function withLatestUse(application: store.Application): store.Application {
    const use = usage.latest(application.client_id);
    if (!use || (application.last_used_at !== null && application.last_used_at > use.at)) return application;
    return { ...application, last_used_at: use.at, last_used_ip: use.ip ?? application.last_used_ip };
  }

  function checkAllowlist(entries: readonly string[], required: boolean): string[] | Failure {
    if (entries.length === 0 && required)
      return new Failure('ip_allowlist_required', 'ip_allowlist must have at least one entry');
    const parsed = parseAllowlist(entries, { minPrefix: allowlistMinPrefix });
    return Array.isArray(parsed) ? parsed : new Failure('invalid_ip_allowlist', parsed.message);
  }

  /** Organization keys work in both environments: a sandbox token must not change them once production is in use. */
  async function checkSandboxChange(
    transaction: Transaction,
    { organizationGuid, kind, environment }: store.Owner,
  ): Promise<Failure | undefined> {
    if (kind !== 'organization' || environment !== 'sandbox') return undefined;
    if (!(await organizations.isInProduction(transaction, organizationGuid))) return undefined;
    return new Failure(
      'invalid_scopes',
      'Organization keys work in production too; change them with a production token',
    );
  }

  /** Locks the replaced key pair, so that two requests cannot begin the same rotation. */
  async function refusalOfReplacement(
    transaction: Transaction,
    { organizationGuid, bank, environment }: NewOwner,
    clientId: string,
  ): Promise<Failure | undefined> {
    const owner: store.Owner = bank
      ? { organizationGuid, kind: 'bank', bankGuid: bank.guid, environment }
      : { organizationGuid, kind: 'organization', environment };
    const replaced = await store.selectApplicationForUpdate(transaction, owner, clientId);
    if (!replaced)
      return new Failure('not_found', 'replaces_client_id does not name a key pair of the same owner');
    const rival = await store.selectReplacement(transaction, organizationGuid, clientId);
    if (rival === undefined) return undefined;
    return new Failure(
      'state_conflict',
      `replaces_client_id names a key pair that ${rival} already replaces; complete that rotation, or delete ${rival}`,
    );
  }

  async function environmentOf(
    transaction: Transaction,
    { bank_guid: guid }: store.Application,
  ): Promise<EnvironmentName | undefined> {
    return guid === null ? undefined : store.selectBankEnvironment(transaction, guid);
  }

  async function removeFound(
    actor: Actor,
    find: (transaction: Transaction) => Promise<store.Application | Failure | undefined>,
  ): Promise<Failure | undefined> {
    const revision = await database.transaction(async (transaction) => {
      const application = await find(transaction);
      if (!application) return applicationNotFound();
      if (isFailure(application)) return application;
      const frozen = await organizations.checkFrozen(application.organization_guid, transaction);
      if (frozen) return frozen;
      const { client_id: clientId, name } = application;
      await store.deleteApplication(transaction, clientId);
      await audit.record(transaction, actor, applicationChange('remove', application, { name }));
      const environment = await environmentOf(transaction, application);
      await alerts.raise(transaction, [removedAlert(actor, application, environment)]);
      const revoked = await revocations.checkAuthor(transaction, actor);
      return revoked ?? revocations.revoke(transaction, 'application', clientId);
    });
    if (isFailure(revision)) return revision;
    await revocations.propagate(revision);
    return undefined;
  }

  return {
    create(
      actor: Actor,
      owner: NewOwner,
      input: Static<typeof NewApplication>,
      policy: AllowlistPolicy,
      recordAnswer: RecordAnswer<CreatedApplication> = recordNothing,
    ): Promise<CreatedApplication | Failure> {
      return database.transaction(async (transaction) => {
        const organization = await organizations.lockForUpdate(transaction, owner.organizationGuid);
        if (isFailure(organization)) return organization;
        const holder = owner.bank ? 'bank' : 'organization';
        const refusal = await checkSandboxChange(transaction, { ...owner, kind: holder });
        if (refusal) return refusal;
        const scopes = checkApplicationScopes(input.scopes ?? scopesFor(holder), holder);
        if (isFailure(scopes)) return scopes;
        const allowlist = checkAllowlist(
          input.ip_allowlist ?? [],
          organization.live || policy === 'required',
        );
        if (isFailure(allowlist)) return allowlist;
        const replaced = input.replaces_client_id ?? null;
        const irreplaceable = replaced && (await refusalOfReplacement(transaction, owner, replaced));
        if (irreplaceable) return irreplaceable;
        const limit = replaced ? MAX_KEY_PAIRS_IN_ROTATIONS : MAX_KEY_PAIRS;
        if ((await store.countApplications(transaction, organization.guid)) >= limit)
          return new Failure(
            'application_limit_reached',
            `The Organization has ${limit} key pairs, the limit; delete one that is not used`,
          );
        const now = clock.now();
        const secret = secrets.generate();
        const application: store.Application = {
          client_id: guids.next(),
          organization_guid: organization.guid,
          bank_guid: owner.bank?.guid ?? null,
          name: input.name,
          scopes,
          ip_allowlist: allowlist,
          ...secrets.hash(secret),
          created_at: now,
          updated_at: now,
          last_used_at: null,
          last_used_ip: null,
          replaces_client_id: replaced,
        };
        await store.insertApplication(transaction, application);
        const change = {
          ...{ name: input.name, scopes, ip_allowlist: allowlist },
          ...(replaced === null ? {} : { replaces_client_id: replaced }),
        };
        await audit.record(transaction, actor, applicationChange('create', application, change));
        await alerts.raise(transaction, [createdAlert(actor, application, owner.bank?.environment)]);
        const revoked = await revocations.checkAuthor(transaction, actor);
        if (revoked) return revoked;
        const created = { application, secret };
        await recordAnswer(transaction, created);
        return created;
      });
    },

    async list(
      owner: store.Owner,
      page: Page,
      filters: store.ApplicationFilters,
    ): Promise<PageOf<store.Application>> {
      const found = await store.selectApplications(database.lists, owner, page, filters);
      return { ...found, rows: found.rows.map(withLatestUse) };
    },

    /** By client_id, in one query. */
    async namesOf(
      organizationGuid: string,
      clientIds: readonly string[],
    ): Promise<ReadonlyMap<string, string>> {
      if (clientIds.length === 0) return new Map();
      const found = await store.selectNames(database.lists, organizationGuid, clientIds);
      return new Map(found.map(({ client_id, name }) => [client_id, name]));
    },

    async get(owner: store.Owner, clientId: string): Promise<store.Application | Failure> {
      const application = await store.selectApplication(database.queries, owner, clientId);
      return application ? withLatestUse(application) : applicationNotFound();
    },

    /**
     * `held` are the scopes of the caller's token, beyond which it cannot widen a key. Returns once every node uses the
     * change for the key's next token.
     */
    async update(
      actor: Actor,
      owner: store.Owner,
      clientId: string,
      input: Static<typeof ApplicationChanges>,
      held: ReadonlySet<string>,
      precondition?: Precondition<store.Application>,
    ): Promise<store.Application | Failure> {
      const updated = await database.transaction(async (transaction) => {
        const organization = await organizations.lockForShare(transaction, owner.organizationGuid);
        if (isFailure(organization)) return organization;
        const current = await store.selectApplicationForUpdate(transaction, owner, clientId);
        if (!current) return applicationNotFound();
        const refusal = (await checkSandboxChange(transaction, owner)) ?? precondition?.(current);
        if (refusal) return refusal;
        const scopes = input.scopes && checkApplicationScopes(input.scopes, owner.kind);
        if (isFailure(scopes)) return scopes;
        const grantable = new Set([...held, ...current.scopes]);
        const beyond = scopes?.find((scope) => !holdsScope(grantable, scope));
        if (beyond)
          return new Failure('invalid_scopes', `Your token must hold the scope ${beyond} to grant it`, {
            scope: beyond,
          });
        const changes = changesOf(current, { ...input, ...(scopes && { scopes }) });
        if (!changes) return { application: current, revision: undefined };
        // An unchanged list is not checked: a stricter rule since then must not block a change of the name.
        const allowlist = changes.ip_allowlist && checkAllowlist(changes.ip_allowlist, organization.live);
        if (isFailure(allowlist)) return allowlist;
        const application = await store.updateApplication(transaction, clientId, {
          ...changes,
          updated_at: clock.now(),
        });
        await audit.record(transaction, actor, applicationChange('update', current, changes));
        const environment = await environmentOf(transaction, application);
        await alerts.raise(
          transaction,
          widenedAlerts(actor, { before: current, after: application, environment }),
        );
        const revoked = await revocations.checkAuthor(transaction, actor);
        if (revoked) return revoked;
        return { application, revision: await revocations.revoke(transaction, 'edit', clientId) };
      });
      if (isFailure(updated)) return updated;
      await revocations.propagate(updated.revision);
      return withLatestUse(updated.application);
    },

    /** Returns once no node accepts a token of the key pair. */
    remove(actor: Actor, owner: store.Owner, clientId: string): Promise<Failure | undefined> {
      return removeFound(actor, async (transaction) => {
        const found = await store.selectApplicationForUpdate(transaction, owner, clientId);
        return (found && (await checkSandboxChange(transaction, owner))) ?? found;
      });
    },

    /** For the operator: key pairs of any Organization. */
    removeAny(actor: Actor, clientId: string): Promise<Failure | undefined> {
      return removeFound(actor, (transaction) => store.selectAnyForUpdate(transaction, clientId));
    },

    /** Specification, Authentication 10. */
    async requireAllowlists(
      transaction: Transaction,
      organizationGuid: string,
    ): Promise<Failure | undefined> {
      const count = await store.countWithoutAllowlist(transaction, organizationGuid);
      if (count === 0) return undefined;
      const keys = count === 1 ? '1 key has' : `${count} keys have`;
      return new Failure(
        'ip_allowlist_required',
        `Every key of a live Organization needs an ip_allowlist; ${keys} none`,
      );
    },
  };
}

function applicationNotFound(): Failure {
  return new Failure('not_found', 'There is no such application');
}
