import { Outlet } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';

export function RequireSubscriptionAccess() {
  const { can } = useWorkspace();
  if (can('subscriptions:read')) return <Outlet />;
  return (
    <EmptyState icon="shield" title="You need the Key Admin or Founder role to view subscriptions">
      Ask a Founder to change your role. You can view deliveries under Events.
    </EmptyState>
  );
}
