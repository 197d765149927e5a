import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import type { SavedFilter } from '../../api/types.ts';
import { notifyFailure } from '../feedback/notify.ts';
import { Dialog } from '../forms/Dialog.tsx';
import { useRefreshSavedFilters } from './use-saved-filters.ts';

export function ManageFiltersDialog({
  saved,
  onClose,
}: {
  saved: readonly SavedFilter[];
  onClose: () => void;
}) {
  const refresh = useRefreshSavedFilters();
  const remove = useMutation({
    mutationFn: accountApi.deleteSavedFilter,
    onSuccess: async () => {
      if (saved.length === 1) onClose();
      await refresh();
    },
    onError: notifyFailure('Could not delete the saved filters'),
  });
  return (
    <Dialog title="Saved filters" onClose={onClose}>
      <Stack gap="xs">
        {saved.map(({ guid, name, filters }) => (
          <Group key={guid} justify="space-between" wrap="nowrap">
            <Stack gap={0} miw={0}>
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Text>
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {Object.entries(filters)
                  .map(([filter, value]) => `${filter}: ${value}`)
                  .join(' · ')}
              </Text>
            </Stack>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              aria-label={`Delete ${name}`}
              loading={remove.isPending && remove.variables === guid}
              onClick={() => remove.mutate(guid)}
            >
              Delete
            </Button>
          </Group>
        ))}
      </Stack>
    </Dialog>
  );
}
