import { Outlet } from '@tanstack/react-router';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';

/** Around the pages of subscriptions: who may not see them is told who may, instead of being refused. */
export function SubscriptionPages() {
  const { can } = useWorkspace();
  if (can('subscriptions:read')) return <Outlet />;
  return (
    <EmptyState icon="shield" title="Subscriptions are not for your role">
      Founders and Key Admins see and manage them. Their deliveries are under Events.
    </EmptyState>
  );
}
