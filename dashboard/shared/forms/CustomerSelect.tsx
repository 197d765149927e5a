import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { type CustomerName, customerName } from '../text/customer-name.ts';
import { PageLink } from '../text/PageLink.tsx';

type Customer = { guid: string; name?: CustomerName; type: string };
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
  withHint = false,
}: {
  label?: string;
  placeholder?: string;
  value: string | undefined;
  onChange: (guid: string | undefined) => void;
  error?: React.ReactNode;
  clearable?: boolean;
  withAsterisk?: boolean;
  /** Links to the sandbox if the bank has no customers. */
  withHint?: boolean;
}) {
  const { api, bank, environment } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/customers', 'all', bank?.guid],
    queryFn: ({ signal }) =>
      api.get<List<Customer>>('/customers', { query: { per_page: PER_PAGE, bank_guid: bank?.guid }, signal }),
    enabled: bank !== undefined,
  });
  const options = (data?.objects ?? []).map(({ guid, name, type }) => ({
    value: guid,
    label: customerName(name) ?? `${type} …${guid.slice(-6)}`,
  }));
  const hasNone = data?.objects.length === 0;
  const known = value === undefined || options.some((option) => option.value === value);
  return (
    <Select
      label={label}
      placeholder={hasNone ? 'Create a customer first' : placeholder}
      description={
        hasNone && withHint && environment === 'sandbox' ? (
          <>
            This bank has no customers yet.{' '}
            <PageLink to="/sandbox" search={{ kind: 'customers' }} inherit underline="always">
              Create a customer
            </PageLink>
          </>
        ) : null
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      searchable
      clearable={clearable}
      withAsterisk={withAsterisk}
      data={known ? options : [...options, { value, label: value }]}
      value={value ?? null}
      onChange={(guid) => onChange(guid ?? undefined)}
      nothingFoundMessage={hasNone ? 'No customers yet' : 'No customers match'}
      error={error}
    />
  );
}
