import { Button, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EndpointStatistics } from '../../api/types.ts';
import { EmptyState } from '../../shared/EmptyState.tsx';
import { Panel } from '../../shared/Panel.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { EndpointTable } from './EndpointTable.tsx';

const LOADING_PX = 160;

/** Each endpoint of the time shown; where there is none yet, the way to the first. */
export function Endpoints({ endpoints }: { endpoints: readonly EndpointStatistics[] | undefined }) {
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
