import { useWorkspace } from '../../session/workspace.ts';
import { EmptyState } from '../../shared/feedback/EmptyState.tsx';
import { OtherEnvironment } from '../../shared/feedback/OtherEnvironment.tsx';
import { Elsewhere } from '../../shared/lookup/Elsewhere.tsx';

/** `id` is the request that the filters name. */
export function NoRequests({ isFiltered, id }: { isFiltered: boolean; id: string | undefined }) {
  const { environment } = useWorkspace();
  if (id !== undefined)
    return (
      <Elsewhere id={id}>
        <EmptyState icon="search" title="No request with this ID">
          It may be older than 7 days, or a call without a valid token, which is not logged.
        </EmptyState>
      </Elsewhere>
    );
  return isFiltered ? (
    <EmptyState icon="search" title={`No requests in ${environment} match these filters`}>
      Extend the time range or clear a filter. Requests are kept for 7 days.
      <OtherEnvironment what="requests" />
    </EmptyState>
  ) : (
    <EmptyState icon="requests" title={`No requests in ${environment} in the last 7 days`}>
      A call with one of your keys appears here a second after its response.
      <OtherEnvironment what="requests" />
    </EmptyState>
  );
}
