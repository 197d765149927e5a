import { useMutation } from '@tanstack/react-query';
import type { Inbox, InboxAnswer } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../../shared/feedback/notify.ts';
import { useWithRefresh } from '../../shared/table/use-with-refresh.ts';

export function useInboxApi() {
  const { api } = useWorkspace();
  const withRefresh = useWithRefresh([api.key, '/inboxes']);
  return {
    create: useMutation({
      mutationFn: (name: string) => withRefresh(api.post<Inbox>('/inboxes', { name })),
      onError: notifyFailure('Could not create the inbox'),
    }),
    rename: (guid: string, name: string) => withRefresh(api.patch<Inbox>(`/inboxes/${guid}`, { name })),
    changeAnswer: useMutation({
      mutationFn: ({ guid, answer }: { guid: string; answer: InboxAnswer }) =>
        withRefresh(api.patch<Inbox>(`/inboxes/${guid}`, { answer })),
      onError: notifyFailure('Could not change the answer'),
    }),
    remove: (guid: string) => withRefresh(api.remove(`/inboxes/${guid}`)),
  };
}
