import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UnreadAlerts } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../feedback/notify.ts';

const PATH = '/unread_alerts';
const REFRESH_MS = 30_000;

/** What the member has not read. */
export function useUnreadAlerts() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: [api.key, PATH],
    queryFn: ({ signal }) => api.get<UnreadAlerts>(PATH, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const markRead = useMutation({
    mutationFn: (guid: string) => api.patch<UnreadAlerts>(PATH, { read_through: guid }),
    onSuccess: (inbox) => queries.setQueryData([api.key, PATH], inbox),
    onError: notifyFailure('Could not mark the alerts as read'),
  });
  return {
    unread: data?.unread ?? 0,
    isUnread: (guid: string) => data !== undefined && guid > data.read_through,
    markRead,
  };
}
