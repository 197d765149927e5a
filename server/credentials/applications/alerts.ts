import { authorOf, type NewAlert } from '../../alerts/details.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { parseIpv4Range } from '../../infrastructure/network/ipv4.ts';
import type { Application } from './store.ts';

/** `environment` is that of a bank key; Organization keys work in both. */
type Environment = EnvironmentName | undefined;

export function createdAlert(actor: Actor, application: Application, environment: Environment): NewAlert {
  const details = { ...keyOf(application), ...authorOf(actor), ip_allowlist: application.ip_allowlist };
  return { type: 'key.created', ...ownerOf(application, environment), details };
}

export function removedAlert(actor: Actor, application: Application, environment: Environment): NewAlert {
  const details = { ...keyOf(application), ...authorOf(actor) };
  return { type: 'key.removed', ...ownerOf(application, environment), details };
}

/** One alert if the key has more scopes or can be used from more addresses than before. */
export function widenedAlerts(
  actor: Actor,
  { before, after, environment }: { before: Application; after: Application; environment: Environment },
): NewAlert[] {
  const added = after.scopes.filter((scope) => !before.scopes.includes(scope));
  const allows = isWider(before.ip_allowlist, after.ip_allowlist);
  if (added.length === 0 && !allows) return [];
  const details = {
    ...keyOf(after),
    ...authorOf(actor),
    ...(added.length > 0 ? { added_scopes: added } : {}),
    ...(allows ? { ip_allowlist: after.ip_allowlist } : {}),
  };
  return [{ type: 'key.widened', ...ownerOf(after, environment), details }];
}

/** Whether the new list has a range that no single range of the old one contains. An empty list allows every address. */
function isWider(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false;
  if (after.length === 0) return true;
  const ranges = before.map(parseIpv4Range).filter((range) => range !== undefined);
  return after.map(parseIpv4Range).some((range) => {
    if (range === undefined) return false;
    return !ranges.some(({ first, last }) => first <= range.first && range.last <= last);
  });
}

function keyOf({ client_id, name }: Application) {
  return { client_id, name };
}

function ownerOf({ organization_guid: organizationGuid }: Application, environment: Environment) {
  return { organizationGuid, environment };
}
