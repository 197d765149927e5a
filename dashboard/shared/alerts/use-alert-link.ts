import type { Alert } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

type Target = { to: string; label: string };

/** The page about the cause of an alert, in the environment of the alert; undefined if the role cannot open it. */
export function useAlertLink(): (alert: Alert) => (Target & { search: { bank?: string } }) | undefined {
  const { banks, bank, can, has } = useWorkspace();

  function targetOf({ type, subscription_guid: guid }: Alert): Target | undefined {
    if (guid !== undefined)
      return can('subscriptions:read') ? { to: `/subscriptions/${guid}`, label: 'View endpoint' } : undefined;
    if (type.startsWith('key.') || type === 'access.denied') return { to: '/keys', label: 'View keys' };
    if (type === 'file.infected') return has('files') ? { to: '/files', label: 'View files' } : undefined;
    return { to: '/team', label: 'View team' };
  }

  return (alert) => {
    const target = targetOf(alert);
    const isHere = alert.environment === undefined || alert.environment === bank?.environment;
    const other = isHere ? undefined : banks.find(({ environment }) => environment === alert.environment);
    return target && { ...target, search: other ? { bank: other.guid } : {} };
  };
}
