import type { Alert } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import type { Search } from '../filters/search.ts';

type Target = { to: string; label: string; search?: Search };

/** The page about the cause of an alert, in the environment of the alert; undefined if there is none. */
export function useAlertLink(): (alert: Alert) => Required<Target> | undefined {
  const { banks, bank, has } = useWorkspace();
  return (alert) => {
    const target = targetOf(alert);
    if (!target || (target.to === '/files' && !has('files'))) return undefined;
    const isHere = alert.environment === undefined || alert.environment === bank?.environment;
    const other = isHere ? undefined : banks.find(({ environment }) => environment === alert.environment);
    return { ...target, search: { ...target.search, ...(other ? { bank: other.guid } : {}) } };
  };
}

function targetOf({
  type,
  environment,
  subscription_guid: subscription,
  details,
}: Alert): Target | undefined {
  const id = (name: string) => String((details as Record<string, unknown>)[name]);
  if (subscription !== undefined) return { to: `/subscriptions/${subscription}`, label: 'View endpoint' };
  switch (type) {
    case 'access.denied':
      return { to: '/requests', label: 'View request', search: { request_id: id('request_id') } };
    case 'key.created':
    case 'key.widened': {
      // Only keys of a bank belong to one environment.
      const kind: Search = environment === undefined ? { kind: 'organization' } : {};
      return { to: '/keys', label: 'View key', search: { client_id: id('client_id'), ...kind } };
    }
    case 'key.removed':
      return { to: '/audit', label: 'View audit log', search: { object: id('client_id') } };
    case 'member.joined':
    case 'second_factor.removed':
      return { to: '/team', label: 'View member', search: { guid: id('member_guid') } };
    case 'file.infected':
      return { to: '/files', label: 'View file', search: { guid: id('file_guid') } };
    default:
      return undefined;
  }
}
