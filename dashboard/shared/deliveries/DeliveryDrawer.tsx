import { Drawer, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DetailedDelivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { PageLoading } from '../feedback/PageLoading.tsx';
import { useReturnFocus } from '../forms/use-return-focus.ts';
import { PageLink } from '../text/PageLink.tsx';
import { DeliveryDetails } from './DeliveryDetails.tsx';

const REFRESH_MS = 3_000;

/** One delivery with its attempts, beside the list. */
export function DeliveryDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
  useReturnFocus();
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, '/subscription_deliveries', guid],
    queryFn: ({ signal }) => api.get<DetailedDelivery>(`/subscription_deliveries/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Drawer opened onClose={onClose} position="right" size="min(960px, 100%)" title="Delivery">
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <PageLoading /> : null}
      {data ? (
        <Stack>
          <PageLink to="/deliveries/$guid" params={{ guid }} size="sm">
            Open as a page
          </PageLink>
          <DeliveryDetails delivery={data} />
        </Stack>
      ) : null}
    </Drawer>
  );
}
