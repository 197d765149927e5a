import { Button, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EndpointStatistics } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { EndpointTable } from './EndpointTable.tsx';

const LOADING_PX = 160;

/** Each endpoint of the time shown; where there is none yet, the way to the first. */
export function EndpointsPanel({ endpoints }: { endpoints: readonly EndpointStatistics[] | undefined }) {
  const { can, environment } = useWorkspace();
  if (!endpoints) return <Skeleton height={LOADING_PX} radius="lg" />;
  if (endpoints.length > 0)
    return (
      <Panel title="Endpoints" hint="Those in trouble first" flush>
        <EndpointTable endpoints={endpoints} />
      </Panel>
    );
  return (
    <Panel>
      <EmptyState
        icon="webhook"
        title={`Nothing listens in ${environment} yet`}
        action={
          can('subscriptions:write') ? (
            <Button component={Link} to="/onboarding">
              Set up webhooks
            </Button>
          ) : undefined
        }
      >
        Once there is a subscription, this shows how well and how quickly its endpoint answers.
      </EmptyState>
    </Panel>
  );
}
