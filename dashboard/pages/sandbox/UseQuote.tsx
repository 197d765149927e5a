import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure, notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { TRANSFER_ACCOUNTS, type Values } from './fields/fields.ts';
import { bodyOf, initialValues } from './form-values.ts';
import { ObjectForm } from './ObjectForm.tsx';

type Props = { quote: SandboxObject; isOpen: boolean };

/** Creates the trade or transfer of a quote. */
export function UseQuote(props: Props) {
  const { can } = useWorkspace();
  const isTrade = props.quote.product_type === 'trading';
  if (!can(isTrade ? 'trades:execute' : 'transfers:execute')) return null;
  return isTrade ? <Trade {...props} /> : <Transfer {...props} />;
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

function Trade({ quote, isOpen }: Props) {
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

function Transfer({ quote, isOpen }: Props) {
  const create = useCreation(quote, 'transfers', 'Transfer');
  const [isCreating, setCreating] = useState(false);
  const close = () => setCreating(false);
  const filters: Values = { customer_guid: String(quote.customer_guid), asset: String(quote.asset) };
  return (
    <>
      {isOpen ? (
        <Button size="compact-sm" variant="light" onClick={() => setCreating(true)}>
          Transfer
        </Button>
      ) : null}
      {isCreating ? (
        <Dialog wide title="Create transfer" locked={create.isPending} onClose={close}>
          <ObjectForm
            fields={TRANSFER_ACCOUNTS.map((field) => ({ ...field, filters }))}
            initial={initialValues(TRANSFER_ACCOUNTS)}
            action="Create"
            pending={create.isPending}
            error={create.error}
            onSubmit={(values) => create.mutate(bodyOf(TRANSFER_ACCOUNTS, values), { onSuccess: close })}
            onCancel={close}
          />
        </Dialog>
      ) : null}
    </>
  );
}
