import { Button, Group, Progress, Text } from '@mantine/core';
import { bytes } from './labels.ts';
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
  const { name, share, state, problem } = upload;
  const isUnderWay = state === 'waiting' || state === 'uploading';
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
            onClick={isUnderWay ? onCancel : onDismiss}
            aria-label={`${isUnderWay ? 'Cancel' : 'Dismiss'} ${name}`}
          >
            {isUnderWay ? 'Cancel' : 'Dismiss'}
          </Button>
        </Group>
      </Group>
      <Progress
        value={state === 'failed' ? 100 : share * 100}
        color={COLORS[state]}
        size="sm"
        aria-label={`Upload of ${name}`}
      />
      {problem ? (
        <Text size="xs" c="var(--mantine-color-red-light-color)" mt={4}>
          {problem}
        </Text>
      ) : null}
    </div>
  );
}

function statusOf({ state, share, size }: Upload): string | null {
  switch (state) {
    case 'waiting':
      return `Waits for its turn, ${bytes(size)}`;
    case 'uploading':
      return `${Math.round(share * 100)}% of ${bytes(size)}`;
    case 'done':
      return `Uploaded, ${bytes(size)}`;
    case 'cancelled':
      return 'Cancelled';
    case 'failed':
      return null;
  }
}
