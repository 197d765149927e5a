import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Inbox, InboxAnswer } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../../shared/feedback/notify.ts';

export function useInboxApi() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const listKey = [api.key, '/inboxes'] as const;
  const refresh = () => queries.invalidateQueries({ queryKey: listKey });
  return {
    create: useMutation({
      mutationFn: (name: string) => api.post<Inbox>('/inboxes', { name }),
      onSuccess: refresh,
      onError: notifyFailure('Could not create the inbox'),
    }),
    rename: async (guid: string, name: string) => {
      await api.patch<Inbox>(`/inboxes/${guid}`, { name });
      await refresh();
    },
    changeAnswer: useMutation({
      mutationFn: ({ guid, answer }: { guid: string; answer: InboxAnswer }) =>
        api.patch<Inbox>(`/inboxes/${guid}`, { answer }),
      onSuccess: refresh,
      onError: notifyFailure('Could not change the answer'),
    }),
    remove: async (guid: string) => {
      await api.remove(`/inboxes/${guid}`);
      await refresh();
    },
  };
}
