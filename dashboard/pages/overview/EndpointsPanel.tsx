import { Button, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EndpointStatistics } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { EndpointTable } from './EndpointTable.tsx';

const LOADING_PX = 160;

export function EndpointsPanel({ endpoints }: { endpoints: readonly EndpointStatistics[] | undefined }) {
  const { can, environment } = useWorkspace();
  if (!endpoints) return <Skeleton height={LOADING_PX} radius="lg" />;
  if (endpoints.length > 0)
    return (
      <Panel title="Endpoints" hint="Most waiting deliveries first" flush>
        <EndpointTable endpoints={endpoints} />
      </Panel>
    );
  return (
    <Panel>
      <EmptyState
        icon="webhook"
        title={`No endpoints in ${environment} yet`}
        action={
          can('subscriptions:write') ? (
            <Button component={Link} to="/onboarding">
              Set up webhooks
            </Button>
          ) : undefined
        }
      >
        Create a subscription to see what its endpoint receives and how fast it answers.
      </EmptyState>
    </Panel>
  );
}
