import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { PageLink } from '../page/PageLink.tsx';

type Customer = { guid: string; name?: string; type: string };
const PER_PAGE = 100;

/** The newest customers of the bank by name; any other by its guid. */
export function CustomerSelect({
  label = 'Customer',
  placeholder = 'Choose a customer',
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
  /** Says where to create the first one. */
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
    label: name ?? `${type} …${guid.slice(-6)}`,
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
            This bank has no customer yet.{' '}
            <PageLink to="/sandbox" search={{ kind: 'customers' }}>
              Create one
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
      nothingFoundMessage={hasNone ? 'No customer yet' : 'No customer has this name'}
      error={error}
    />
  );
}
