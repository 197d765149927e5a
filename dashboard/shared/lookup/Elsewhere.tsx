import type { ReactNode } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../feedback/EmptyState.tsx';
import { PageLoading } from '../feedback/PageLoading.tsx';
import { PageLink } from '../text/PageLink.tsx';
import { bankFor, destinationOf, FOUND_LABELS } from './destination.ts';
import { useLookup } from './use-lookup.ts';

/** For an ID that this environment does not have: leads to the other one, or shows the children if that has none either. */
export function Elsewhere({ id, children }: { id: string; children: ReactNode }) {
  const { banks, environment } = useWorkspace();
  const { data, isPending } = useLookup(id);
  if (isPending) return <PageLoading />;
  const found = data?.objects[0];
  const bank = found && bankFor(found, banks, environment);
  if (!found?.environment || found.environment === environment || bank === undefined) return children;
  const { to, search } = destinationOf(found);
  return (
    <EmptyState
      icon="search"
      title={`${FOUND_LABELS[found.type].label} is in ${found.environment}`}
      action={
        <PageLink to={to} search={{ ...search, bank }} size="sm">
          View in {found.environment}
        </PageLink>
      }
    >
      {found.name}. You see only {environment}.
    </EmptyState>
  );
}
