import { List, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { normalisedUrl } from '../../../../server/webhooks/subscriptions/url.ts';
import type { Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { Dialog } from '../../../shared/forms/Dialog.tsx';
import { FormActions } from '../../../shared/forms/FormActions.tsx';
import { useSubscriptionApi } from '../use-subscription-api.ts';
import { UrlField, urlError } from './UrlField.tsx';

export function ChangeUrl({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const { environment } = useWorkspace();
  const { change } = useSubscriptionApi();
  const form = useForm({
    initialValues: { url: subscription.url },
    validate: {
      url: (url) =>
        urlError(url.trim(), environment) ??
        (normalisedUrl(url.trim()) === normalisedUrl(subscription.url) ? 'This is the current URL' : null),
    },
  });
  const changing = useMutation({
    mutationFn: (url: string) => change(subscription.guid, { url }),
    onSuccess: onClose,
  });
  return (
    <Dialog wide title={`Change URL: ${subscription.name}`} locked={changing.isPending} onClose={onClose}>
      <form onSubmit={form.onSubmit(({ url }) => changing.mutate(url.trim()))}>
        <Stack>
          <UrlField data-autofocus {...form.getInputProps('url')} />
          <Text size="sm" component="div">
            <List size="sm" spacing={4}>
              <List.Item>The old URL receives nothing more.</List.Item>
              <List.Item>
                The new URL receives one event, <code>subscription.storing</code>, signed with the same key.
              </List.Item>
              <List.Item>
                All other deliveries wait until the new URL answers it with 2xx. Then they are sent.
              </List.Item>
            </List>
          </Text>
          <FormActions
            action="Change URL"
            pending={changing.isPending}
            error={changing.error}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
