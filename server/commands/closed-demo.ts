import type { App } from '../app.ts';
import type { Organization } from '../credentials/organizations/service.ts';
import { systemActor } from '../infrastructure/audit/service.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Person } from '../people/members/people.ts';
import { pathOf } from '../webhooks/inboxes/service.ts';
import { FOUNDER_EMAIL } from './demo.ts';

/** `createDemo` creates the Organization, the bank, the keys and the Founder directly one after the other. */
const DEMO_CREATED_WITHIN_MS = 60_000;
const PAGE = { number: 0, perPage: 100, offset: 0, after: undefined };

/**
 * A demo has keys without an IP allowlist, and its secrets were printed. Before an exposed service listens, the
 * keys and the inbox of an earlier demo are removed and its Founder is locked. Later starts change nothing.
 */
export async function closeDemoIfExposed(
  app: App,
  { exposure, demo }: Pick<Config, 'exposure' | 'demo'>,
  log: Log,
): Promise<void> {
  if (!exposure || demo) return;
  const founder = await app.people.findByEmail(FOUNDER_EMAIL);
  if (!founder) return;
  for (const found of await findDemos(app, founder)) await close(app, found, exposure.exposedBy, log);
}

type ExistingDemo = { organization: Organization; founder: Person; createdUntil: Date };

async function close(app: App, demo: ExistingDemo, exposedBy: readonly string[], log: Log): Promise<void> {
  const { organization, founder } = demo;
  const about = { exposed_by: exposedBy, organization_guid: organization.guid };
  const loginLocked = await app.login.accounts.lock(systemActor, founder.guid);
  if (await app.organizations.checkFrozen(organization.guid)) {
    log.warn(
      { ...about, locked_member: founder.email },
      'locked the Founder of the demo; its keys are refused while its Organization is frozen: remove it, or restart after an unfreeze',
    );
    return;
  }
  const removedKeys = await removeKeys(app, demo);
  await removeInbox(app, demo);
  const founderRemoved = await removeMembership(app, demo);
  if (removedKeys.length === 0 && !loginLocked && !founderRemoved) return;
  log.warn(
    { ...about, removed_keys: removedKeys, locked_member: founder.email },
    'closed the demo: removed its keys and its inbox, locked its Founder and ended their sessions; PORTICO_DEMO=true keeps a demo open',
  );
}

/**
 * A demo is created on an empty database only, so its Organization is the first one that was not imported. Another demo
 * may have been imported with its Founder. The time distinguishes them from an Organization that invited the demo's
 * address later.
 */
async function findDemos({ organizations, members }: App, founder: Person): Promise<ExistingDemo[]> {
  const first = await organizations.firstOwn();
  const joined = (await members.organizationsOf(founder.guid)).map(({ organization }) => organization);
  const found = new Map([...(first ? [first] : []), ...joined].map((each) => [each.guid, each]));
  const demos: ExistingDemo[] = [];
  for (const organization of found.values()) {
    const member = await members.get(organization.guid, founder.guid);
    const createdUntil = (isFailure(member) ? founder : member).created_at;
    const elapsedMs = createdUntil.getTime() - organization.created_at.getTime();
    if (elapsedMs >= 0 && elapsedMs <= DEMO_CREATED_WITHIN_MS)
      demos.push({ organization, founder, createdUntil });
  }
  return demos;
}

/** Only what was created between the Organization and the Founder; people created the rest. */
function timeOf({ organization, createdUntil }: ExistingDemo) {
  return {
    createdAtGte: organization.created_at,
    createdAtLt: new Date(createdUntil.getTime() + 1),
  };
}

async function removeKeys({ applications }: App, demo: ExistingDemo): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const kind of ['bank', 'organization'] as const) {
    const owner = { organizationGuid: demo.organization.guid, kind };
    const { rows } = await applications.list(owner, PAGE, timeOf(demo));
    for (const { client_id: clientId } of rows)
      if (succeeded(await applications.removeAny(systemActor, clientId))) removed.push(clientId);
  }
  return removed;
}

/** An exposed service does not deliver to loopback addresses, so the subscription would fail. */
async function removeInbox({ inboxes, subscriptions }: App, demo: ExistingDemo): Promise<void> {
  const { createdAtGte, createdAtLt } = timeOf(demo);
  const tenant = { organizationGuid: demo.organization.guid };
  const own = (await inboxes.list(tenant)).filter(
    ({ created_at: at }) => at >= createdAtGte && at < createdAtLt,
  );
  const found = await subscriptions.list(tenant, PAGE, {});
  if (isFailure(found)) throw new Error(found.message);
  for (const { guid, url } of found.rows)
    if (own.some(({ token }) => url.endsWith(pathOf(token)))) {
      succeeded(await subscriptions.control(systemActor, guid, { disabled: true }));
      succeeded(await subscriptions.remove(systemActor, tenant, guid));
    }
  for (const { guid } of own) succeeded(await inboxes.remove(systemActor, tenant, guid));
}

/** Otherwise an invitation to another Organization could set a password for the Founder of this one. */
async function removeMembership({ login }: App, { organization, founder }: ExistingDemo): Promise<boolean> {
  return succeeded(await login.invitations.remove(systemActor, organization.guid, founder.guid));
}

/** False when it does not exist any more, for example because another node removed it. */
function succeeded(result: unknown): boolean {
  if (!isFailure(result)) return true;
  if (result.code === 'not_found') return false;
  throw new Error(result.message);
}
