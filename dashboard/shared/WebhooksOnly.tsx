import type { ReactNode } from 'react';
import { useWorkspace } from '../shell/workspace-context.ts';
import { EmptyState } from './EmptyState.tsx';

/** What the Organization or the role does not have is explained, instead of being asked for in vain. */
export function WebhooksOnly({ scope, children }: { scope: string; children: ReactNode }) {
  const { organization, session, can } = useWorkspace();
  if (!organization.features.includes('webhooks'))
    return (
      <EmptyState icon="webhook" title="Webhooks are not enabled">
        Write to {session.support_email} to have them enabled for {organization.name}.
      </EmptyState>
    );
  if (!can(scope))
    return (
      <EmptyState icon="shield" title="Subscriptions are not for your role">
        Founders and Key Admins see and manage them. Their deliveries are under Events.
      </EmptyState>
    );
  return children;
}
