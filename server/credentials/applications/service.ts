import type { Static } from 'typebox';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { changesOf } from '../../infrastructure/runtime/changes.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import { checkApplicationScopes, holdsScope, scopesFor } from '../../tokens/scopes.ts';
import type { Bank, Organizations } from '../organizations/service.ts';
import { parseAllowlist } from './allowlists/allowlist.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { ApplicationChanges, NewApplication } from './schema.ts';
import * as store from './store.ts';
import type { KeyUsage } from './usage.ts';

export type { Client, Owner } from './store.ts';
export type Applications = ReturnType<typeof createApplications>;
export type CreatedApplication = { application: store.Application; secret: Secret };

/** Who wants a list on a new key: everybody under the policy `required`, only live Organizations otherwise. */
export type AllowlistPolicy = 'required' | 'optional';

export type ApplicationsDeps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  organizations: Organizations;
  secrets: ClientSecrets;
  revocations: Revocations;
  usage: KeyUsage;
  /** No entry of a list may be a wider range. */
  allowlistMinPrefix: number;
};

/** Key pairs: client_id and client_secret of an Organization or of one of its Banks. */
export function createApplications(deps: ApplicationsDeps) {
  const { database, clock, guids, audit, organizations, secrets, revocations, usage, allowlistMinPrefix } =
    deps;

  /** With a use that this node has seen and not written down yet. */
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

  /**
   * An Organization key works in both environments. Once the Organization is in production, a sandbox token no longer
   * changes such a key: what is done in sandbox must not reach production.
   */
  async function checkSandboxChange(
    transaction: Transaction,
    { organizationGuid, kind, environment }: store.Owner,
  ): Promise<Failure | undefined> {
    if (kind !== 'organization' || environment !== 'sandbox') return undefined;
    if (!(await organizations.isInProduction(transaction, organizationGuid))) return undefined;
    return new Failure(
      'invalid_scopes',
      'Organization keys work in production too; use a token of the production environment to change them',
    );
  }

  async function removeFound(
    actor: Actor,
    find: (transaction: Transaction) => Promise<store.Application | Failure | undefined>,
  ): Promise<Failure | undefined> {
    const revision = await database.transaction(async (transaction) => {
      const application = await find(transaction);
      if (!application) return applicationNotFound();
      if (isFailure(application)) return application;
      const { client_id: clientId, name } = application;
      await store.deleteApplication(transaction, clientId);
      await audit.record(transaction, actor, about('remove', application, { name }));
      return revocations.revoke(transaction, 'application', clientId);
    });
    if (isFailure(revision)) return revision;
    await revocations.propagate(revision);
    return undefined;
  }

  return {
    create(
      actor: Actor,
      owner: { organizationGuid: string; bank?: Bank; environment?: EnvironmentName | undefined },
      input: Static<typeof NewApplication>,
      policy: AllowlistPolicy,
    ): Promise<CreatedApplication | Failure> {
      return database.transaction(async (transaction) => {
        const organization = await organizations.lockForShare(transaction, owner.organizationGuid);
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
        };
        await store.insertApplication(transaction, application);
        await audit.record(
          transaction,
          actor,
          about('create', application, { name: input.name, scopes, ip_allowlist: allowlist }),
        );
        return { application, secret };
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

    async get(owner: store.Owner, clientId: string): Promise<store.Application | Failure> {
      const application = await store.selectApplication(database.queries, owner, clientId);
      return application ? withLatestUse(application) : applicationNotFound();
    },

    /**
     * `held` bounds what the caller can give: nobody widens a key beyond the scopes of their own token.
     * When this returns, every node issues the pair's next token by the change.
     */
    async update(
      actor: Actor,
      owner: store.Owner,
      clientId: string,
      input: Static<typeof ApplicationChanges>,
      held: ReadonlySet<string>,
    ): Promise<store.Application | Failure> {
      const updated = await database.transaction(async (transaction) => {
        const organization = await organizations.lockForShare(transaction, owner.organizationGuid);
        if (isFailure(organization)) return organization;
        const current = await store.selectApplicationForUpdate(transaction, owner, clientId);
        if (!current) return applicationNotFound();
        const refusal = await checkSandboxChange(transaction, owner);
        if (refusal) return refusal;
        const scopes = input.scopes && checkApplicationScopes(input.scopes, owner.kind);
        if (isFailure(scopes)) return scopes;
        const grantable = new Set([...held, ...current.scopes]);
        const beyond = scopes?.find((scope) => !holdsScope(grantable, scope));
        if (beyond)
          return new Failure('invalid_scopes', `Your own token must hold ${beyond} to grant it`, {
            scope: beyond,
          });
        const changes = changesOf(current, { ...input, ...(scopes && { scopes }) });
        if (!changes) return { application: current, revision: undefined };
        // Only a list that differs is checked: one that a later rule would refuse does not stand in the way of a name.
        const allowlist = changes.ip_allowlist && checkAllowlist(changes.ip_allowlist, organization.live);
        if (isFailure(allowlist)) return allowlist;
        const application = await store.updateApplication(transaction, clientId, {
          ...changes,
          updated_at: clock.now(),
        });
        await audit.record(transaction, actor, about('update', application, changes));
        return { application, revision: await revocations.revoke(transaction, 'edit', clientId) };
      });
      if (isFailure(updated)) return updated;
      if (updated.revision !== undefined) await revocations.propagate(updated.revision);
      return updated.application;
    },

    /** When this returns, no node accepts a token of the pair any more. */
    remove(actor: Actor, owner: store.Owner, clientId: string): Promise<Failure | undefined> {
      return removeFound(actor, async (transaction) => {
        const found = await store.selectApplicationForUpdate(transaction, owner, clientId);
        return (found && (await checkSandboxChange(transaction, owner))) ?? found;
      });
    },

    /** The operator's: whoever the pair belongs to. */
    removeAny(actor: Actor, clientId: string): Promise<Failure | undefined> {
      return removeFound(actor, (transaction) => store.selectAnyForUpdate(transaction, clientId));
    },

    /** A live Organization has a list on every key (specification, Authentication 10). */
    async requireAllowlists(
      transaction: Transaction,
      organizationGuid: string,
    ): Promise<Failure | undefined> {
      const count = await store.countWithoutAllowlist(transaction, organizationGuid);
      if (count === 0) return undefined;
      const keys = count === 1 ? '1 key has' : `${count} keys have`;
      return new Failure(
        'ip_allowlist_required',
        `A live Organization needs a list on every key; ${keys} none`,
      );
    },
  };
}

function applicationNotFound(): Failure {
  return new Failure('not_found', 'There is no such application');
}

function about(verb: 'create' | 'update' | 'remove', application: store.Application, changes: object) {
  const objectType = application.bank_guid === null ? 'organization_application' : 'bank_application';
  return {
    action: `${objectType}.${verb}` as const,
    organizationGuid: application.organization_guid,
    objectType,
    objectId: application.client_id,
    changes: { ...changes },
  };
}
