import { Box, Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from '../../../session/workspace.ts';
import { DeliveryProgress } from '../../../shared/deliveries/redelivery/DeliveryProgress.tsx';
import { notifyFailure } from '../../../shared/feedback/notify.ts';
import { Icon } from '../../../shared/text/Icon.tsx';
import { useSubscriptionApi } from '../use-subscription-api.ts';

/** The outcome appears below the buttons of the page. */
export function SendTestEvent({ guid }: { guid: string }) {
  const { api } = useWorkspace();
  const { sendTest } = useSubscriptionApi();
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () => sendTest(guid),
    onSuccess: () => queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] }),
    onError: notifyFailure('Could not send the test event'),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="send" size={16} />}
        loading={send.isPending}
        onClick={() => send.mutate()}
      >
        Send test event
      </Button>
      {send.data ? (
        <Box style={{ flexBasis: '100%', order: 1 }}>
          <DeliveryProgress key={send.data.guid} created={send.data} what="Test event" />
        </Box>
      ) : null}
    </>
  );
}
