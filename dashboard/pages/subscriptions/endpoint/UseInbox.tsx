import { Anchor, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Inbox, List, Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { notifyFailure } from '../../../shared/feedback/notify.ts';
import { keepFocus } from '../../../shared/forms/keep-focus.ts';
import { newInboxName } from '../../inbox/new-inbox-name.ts';

const PER_PAGE = 100;

/** Offers the URL of an inbox to a person who has no endpoint yet. */
export function UseInbox({ onUse }: { onUse: (inbox: Inbox) => void }) {
  const { api, can, environment } = useWorkspace();
  const use = useMutation({
    mutationFn: async () => {
      const [{ objects: inboxes }, { objects: subscriptions }] = await Promise.all([
        api.get<List<Inbox>>('/inboxes'),
        api.get<List<Subscription>>('/subscriptions', { query: { environment, per_page: PER_PAGE } }),
      ]);
      // Two subscriptions of one inbox would show each event twice.
      const unused = inboxes.find(({ url }) => !subscriptions.some((other) => other.url === url));
      const name = newInboxName(inboxes);
      if (unused || name === undefined) return unused ?? (inboxes[0] as Inbox);
      return api.post<Inbox>('/inboxes', { name });
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
