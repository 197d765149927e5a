import { Anchor, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Inbox, List } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { notifyFailure } from '../../../shared/feedback/notify.ts';
import { keepFocus } from '../../../shared/forms/keep-focus.ts';

/** Offers the URL of an inbox to a person who has no endpoint yet. */
export function UseInbox({ onUse }: { onUse: (inbox: Inbox) => void }) {
  const { api, can, environment } = useWorkspace();
  const use = useMutation({
    mutationFn: async () => {
      const { objects } = await api.get<List<Inbox>>('/inboxes');
      return objects[0] ?? (await api.post<Inbox>('/inboxes', { name: 'Inbox 1' }));
    },
    onSuccess: onUse,
    onError: notifyFailure('Could not create an inbox'),
  });
  if (environment === 'production' || !can('subscription_events:execute')) return null;
  return (
    <Text size="sm" c="dimmed" mt={-8}>
      No endpoint yet?{' '}
      <Anchor
        component="button"
        type="button"
        size="sm"
        disabled={use.isPending}
        onMouseDown={keepFocus}
        onClick={() => use.mutate()}
      >
        Use an inbox
      </Anchor>{' '}
      that Portico hosts, and watch requests arrive.
    </Text>
  );
}
