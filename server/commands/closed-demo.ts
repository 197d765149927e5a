import type { App } from '../app.ts';
import type { Organization } from '../credentials/organizations/service.ts';
import { systemActor } from '../infrastructure/audit/service.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { type Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Person } from '../people/members/people.ts';
import { FOUNDER_EMAIL } from './demo.ts';

/** `createDemo` creates the Organization, the bank, the key and the Founder directly one after the other. */
const DEMO_CREATED_WITHIN_MS = 60_000;
const MAX_DEMO_KEYS = 100;

/**
 * A demo has a key without an IP allowlist, and its secrets were printed. Before an exposed service listens, the
 * key of an earlier demo is removed and its Founder is locked. Later starts change nothing.
 */
export async function closeDemoIfExposed(
  app: App,
  { exposure, demo }: Pick<Config, 'exposure' | 'demo'>,
  log: Log,
): Promise<void> {
  if (!exposure || demo) return;
  const found = await findDemo(app);
  if (!found) return;
  const { organization, founder } = found;
  const removedKeys = await removeKeys(app, found);
  const loginLocked = await app.login.accounts.lock(systemActor, founder.guid);
  const founderRemoved = await removeMembership(app, found);
  if (removedKeys.length === 0 && !loginLocked && !founderRemoved) return;
  log.warn(
    {
      exposed_by: exposure.exposedBy,
      organization_guid: organization.guid,
      removed_keys: removedKeys,
      locked_member: founder.email,
    },
    'closed the demo: removed its key, locked its Founder and ended their sessions; PORTICO_DEMO=true keeps a demo open',
  );
}

type ExistingDemo = { organization: Organization; founder: Person };

/**
 * A demo is created on an empty database only, so its Organization is the first one. The time distinguishes it
 * from an Organization that invited the demo's address later.
 */
async function findDemo({ people, organizations }: App): Promise<ExistingDemo | undefined> {
  const founder = await people.findByEmail(FOUNDER_EMAIL);
  const organization = founder && (await organizations.first());
  if (!organization) return undefined;
  const elapsedMs = founder.created_at.getTime() - organization.created_at.getTime();
  return elapsedMs >= 0 && elapsedMs <= DEMO_CREATED_WITHIN_MS ? { organization, founder } : undefined;
}

/** Only the key created between the Organization and the Founder; people created later ones. */
async function removeKeys(
  { applications }: App,
  { organization, founder }: ExistingDemo,
): Promise<readonly string[]> {
  const { rows } = await applications.list(
    { organizationGuid: organization.guid, kind: 'bank' },
    { number: 0, perPage: MAX_DEMO_KEYS, offset: 0, after: undefined },
    { createdAtGte: organization.created_at, createdAtLt: new Date(founder.created_at.getTime() + 1) },
  );
  const removed: string[] = [];
  for (const { client_id: clientId } of rows)
    if (succeeded(await applications.removeAny(systemActor, clientId))) removed.push(clientId);
  return removed;
}

/** Otherwise an invitation to another Organization could set a password for the Founder of this one. */
async function removeMembership({ login }: App, { organization, founder }: ExistingDemo): Promise<boolean> {
  return succeeded(await login.invitations.remove(systemActor, organization.guid, founder.guid));
}

/** False when it does not exist any more, for example because another node removed it. */
function succeeded(result: Failure | undefined): boolean {
  if (!isFailure(result)) return true;
  if (result.code === 'not_found') return false;
  throw new Error(result.message);
}
