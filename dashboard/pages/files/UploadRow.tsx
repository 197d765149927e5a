import { Button, Group, Progress, Text } from '@mantine/core';
import { formatBytes } from './labels.ts';
import type { Upload } from './use-uploads.ts';

const COLORS: Record<Upload['state'], string> = {
  waiting: 'gray',
  uploading: 'iris',
  done: 'teal',
  failed: 'red',
  cancelled: 'gray',
};

export function UploadRow({
  upload,
  onCancel,
  onDismiss,
}: {
  upload: Upload;
  onCancel: () => void;
  onDismiss: () => void;
}) {
  const { name, progress, state, error } = upload;
  const isActive = state === 'waiting' || state === 'uploading';
  return (
    <div data-upload={state}>
      <Group justify="space-between" wrap="nowrap" gap="sm" mb={4}>
        <Text size="sm" truncate fw={550}>
          {name}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} role="status">
            {statusOf(upload)}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={isActive ? onCancel : onDismiss}
            aria-label={`${isActive ? 'Cancel' : 'Dismiss'} ${name}`}
          >
            {isActive ? 'Cancel' : 'Dismiss'}
          </Button>
        </Group>
      </Group>
      <Progress
        value={state === 'failed' ? 100 : progress * 100}
        color={COLORS[state]}
        size="sm"
        aria-label={`Uploading ${name}`}
      />
      {error ? (
        <Text size="xs" c="var(--mantine-color-red-light-color)" mt={4}>
          {error}
        </Text>
      ) : null}
    </div>
  );
}

function statusOf({ state, progress, size }: Upload): string | null {
  switch (state) {
    case 'waiting':
      return `Waiting, ${formatBytes(size)}`;
    case 'uploading':
      return `${Math.round(progress * 100)}% of ${formatBytes(size)}`;
    case 'done':
      return `Uploaded, ${formatBytes(size)}`;
    case 'cancelled':
      return 'Cancelled';
    case 'failed':
      return null;
  }
}
