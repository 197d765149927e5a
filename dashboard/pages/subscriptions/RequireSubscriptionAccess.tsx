import { Outlet } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';

/** Around the pages of subscriptions: who may not see them is told who may, instead of being refused. */
export function RequireSubscriptionAccess() {
  const { can } = useWorkspace();
  if (can('subscriptions:read')) return <Outlet />;
  return (
    <EmptyState icon="shield" title="Subscriptions are not for your role">
      Founders and Key Admins see and manage them. Their deliveries are under Events.
    </EmptyState>
  );
}
