import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyError, notifySuccess } from '../../shared/feedback/notify.ts';

/** Creates the trade or transfer of a quote. The list refreshes often enough to remove the button on time. */
export function UseQuote({ quote }: { quote: SandboxObject }) {
  const { api, bank, can } = useWorkspace();
  const queries = useQueryClient();
  const [path, label] =
    quote.product_type === 'trading' ? ['trades', 'Trade'] : (['transfers', 'Transfer'] as const);
  const use = useMutation({
    mutationFn: () => api.post<SandboxObject>(`/${path}`, { quote_guid: quote.guid, bank_guid: bank?.guid }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, `/${path}`] });
      notifySuccess(`${label} created.`);
    },
    onError: notifyError,
  });
  const isExpired = new Date(String(quote.expires_at)) <= new Date();
  if (isExpired || use.isSuccess || !can(`${path}:execute`)) return null;
  return (
    <Button size="compact-sm" variant="light" loading={use.isPending} onClick={() => use.mutate()}>
      {label}
    </Button>
  );
}
