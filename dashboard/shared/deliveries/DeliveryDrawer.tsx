import { Button, Drawer, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DetailedDelivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import { PageLoading } from '../feedback/PageLoading.tsx';
import { DeliveryDetails } from './DeliveryDetails.tsx';

const REFRESH_MS = 3_000;

/** One delivery with its attempts, beside the list. */
export function DeliveryDrawer({ guid, onClose }: { guid: string; onClose: () => void }) {
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
          <DeliveryDetails delivery={data} />
          <Button component={Link} to={`/deliveries/${guid}`} variant="default" size="xs" w="max-content">
            Open as a page
          </Button>
        </Stack>
      ) : null}
    </Drawer>
  );
}
