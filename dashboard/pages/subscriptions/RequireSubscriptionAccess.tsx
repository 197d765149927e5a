import { Outlet } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';

export function RequireSubscriptionAccess() {
  const { can } = useWorkspace();
  if (can('subscriptions:read')) return <Outlet />;
  return (
    <EmptyState icon="shield" title="You cannot view subscriptions">
      You need the Key Admin or Founder role to view subscriptions. You can view their deliveries under
      Events.
    </EmptyState>
  );
}
