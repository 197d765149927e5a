import { Anchor, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { type Customer, customerLabel } from '../text/customer-name.ts';
import { NewCustomer } from './NewCustomer.tsx';

const PER_PAGE = 100;

/** Offers the newest customers of the bank; an older one that is already selected is shown by guid. */
export function CustomerSelect({
  label = 'Customer',
  placeholder = 'Select a customer',
  value,
  onChange,
  error,
  clearable = false,
  withAsterisk = false,
  creatable = false,
}: {
  label?: string;
  placeholder?: string;
  value: string | undefined;
  onChange: (guid: string | undefined) => void;
  error?: React.ReactNode;
  clearable?: boolean;
  withAsterisk?: boolean;
  /** Also creates a customer, in sandbox. */
  creatable?: boolean;
}) {
  const { api, bank, environment, can } = useWorkspace();
  const [isCreating, setCreating] = useState(false);
  const { data } = useQuery({
    queryKey: [api.key, '/customers', 'all', bank?.guid],
    queryFn: ({ signal }) =>
      api.get<List<Customer>>('/customers', { query: { per_page: PER_PAGE, bank_guid: bank?.guid }, signal }),
    enabled: bank !== undefined,
  });
  const options = (data?.objects ?? []).map((customer) => ({
    value: customer.guid,
    label: customerLabel(customer),
  }));
  const hasNone = data?.objects.length === 0;
  const known = value === undefined || options.some((option) => option.value === value);
  const canCreate = creatable && environment === 'sandbox' && bank && can('customers:execute');
  return (
    <Stack gap={6}>
      <Select
        label={label}
        placeholder={hasNone ? 'No customers yet' : placeholder}
        searchable
        clearable={clearable}
        withAsterisk={withAsterisk}
        data={known ? options : [...options, { value, label: value }]}
        value={value ?? null}
        onChange={(guid) => onChange(guid ?? undefined)}
        nothingFoundMessage={hasNone ? 'No customers yet' : 'No customers match'}
        error={error}
      />
      {canCreate && isCreating ? (
        <NewCustomer
          bankGuid={bank.guid}
          onCreated={(guid) => {
            setCreating(false);
            onChange(guid);
          }}
          onCancel={() => setCreating(false)}
        />
      ) : null}
      {canCreate && !isCreating ? (
        <Anchor
          component="button"
          type="button"
          size="xs"
          underline="always"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => setCreating(true)}
        >
          New customer
        </Anchor>
      ) : null}
    </Stack>
  );
}
