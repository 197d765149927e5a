import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure, notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { TRANSFER_ACCOUNTS, type Values } from './fields/fields.ts';
import { bodyOf, initialValues } from './form-values.ts';
import { ObjectForm } from './ObjectForm.tsx';

type Props = { quote: SandboxObject; isOpen: boolean; onTransfer: () => void };

/** Creates the trade of a quote, or opens the form of its transfer. */
export function UseQuote({ quote, isOpen, onTransfer }: Props) {
  const { can } = useWorkspace();
  const isTrade = quote.product_type === 'trading';
  if (!can(isTrade ? 'trades:execute' : 'transfers:execute')) return null;
  if (isTrade) return <Trade quote={quote} isOpen={isOpen} />;
  return isOpen ? (
    <Button size="compact-sm" variant="light" onClick={onTransfer}>
      Transfer
    </Button>
  ) : null;
}

function useCreation(quote: SandboxObject, path: string, label: string) {
  const { api, bank } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: object) =>
      api.post<SandboxObject>(`/${path}`, { ...fields, quote_guid: quote.guid, bank_guid: bank?.guid }),
    onSuccess: async () => {
      notifySuccess(`${label} created.`);
      await queries.invalidateQueries({ queryKey: [api.key, `/${path}`] });
    },
  });
}

function Trade({ quote, isOpen }: Pick<Props, 'quote' | 'isOpen'>) {
  const create = useCreation(quote, 'trades', 'Trade');
  if (!isOpen) return null;
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={create.isPending}
      onClick={() => create.mutate({}, { onError: notifyFailure('Could not create the trade') })}
    >
      Trade
    </Button>
  );
}

export function TransferQuote({ quote, onClose }: { quote: SandboxObject; onClose: () => void }) {
  const create = useCreation(quote, 'transfers', 'Transfer');
  const filters: Values = { customer_guid: String(quote.customer_guid), asset: String(quote.asset) };
  return (
    <Dialog wide title="Create transfer" locked={create.isPending} onClose={onClose}>
      <ObjectForm
        fields={TRANSFER_ACCOUNTS.map((field) => ({ ...field, filters }))}
        initial={initialValues(TRANSFER_ACCOUNTS)}
        action="Create"
        pending={create.isPending}
        error={create.error}
        onSubmit={(values) => create.mutate(bodyOf(TRANSFER_ACCOUNTS, values), { onSuccess: onClose })}
        onCancel={onClose}
      />
    </Dialog>
  );
}
