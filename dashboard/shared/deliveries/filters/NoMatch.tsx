import { useWorkspace } from '../../../session/workspace.ts';
import { EmptyState } from '../../feedback/EmptyState.tsx';

export function NoMatch({ what }: { what: 'events' | 'deliveries' }) {
  const { environment } = useWorkspace();
  return (
    <EmptyState icon="search" title={`No ${what} match these filters`}>
      Only {what} in {environment} are listed.
      {what === 'deliveries' ? ' Retries belong to deliveries that were created earlier.' : null} Extend the
      time range or clear a filter. By default, {what} are kept for 30 days.
    </EmptyState>
  );
}
