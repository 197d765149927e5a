import { Button, Fieldset, Group, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../feedback/ErrorAlert.tsx';
import type { Customer } from '../text/customer-name.ts';

const MAX_NAME_CHARACTERS = 128;

/** A customer with a type and a name, created within another form. Forms cannot be nested, so this is none. */
export function NewCustomer({
  bankGuid,
  onCreated,
  onCancel,
}: {
  bankGuid: string;
  onCreated: (guid: string) => void;
  onCancel: () => void;
}) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [type, setType] = useState('individual');
  const [name, setName] = useState('');
  const full = name.trim();
  const create = useMutation({
    mutationFn: () => api.post<Customer>('/customers', { type, name: { full }, bank_guid: bankGuid }),
    onSuccess: async ({ guid }) => {
      await queries.invalidateQueries({ queryKey: [api.key, '/customers'] });
      onCreated(guid);
    },
  });
  const submit = () => {
    if (full !== '' && !create.isPending) create.mutate();
  };
  return (
    <Fieldset legend="New customer" p="sm" mx={0}>
      <Stack gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="Customer type"
          data={[
            { value: 'individual', label: 'Individual' },
            { value: 'business', label: 'Business' },
          ]}
          value={type}
          onChange={setType}
        />
        <TextInput
          label="Customer name"
          size="sm"
          autoFocus
          maxLength={MAX_NAME_CHARACTERS}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Enter would submit the form around.
            event.preventDefault();
            submit();
          }}
        />
        {create.error ? <ErrorAlert error={create.error} /> : null}
        <Group gap="xs" justify="flex-end">
          <Button size="compact-sm" variant="default" disabled={create.isPending} onClick={onCancel}>
            Cancel
          </Button>
          <Button size="compact-sm" loading={create.isPending} disabled={full === ''} onClick={submit}>
            Create customer
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
