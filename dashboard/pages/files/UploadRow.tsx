import { Button, Group, Progress, Text } from '@mantine/core';
import { StateBadge } from '../../shared/text/StateBadge.tsx';
import { failureLabel, formatBytes } from './labels.ts';
import { useStoredFile } from './use-stored-file.ts';
import type { Upload } from './use-uploads.ts';

const COLORS: Record<string, string> = {
  uploading: 'iris',
  storing: 'iris',
  completed: 'teal',
  failed: 'red',
};

/** An upload, and once it has arrived the state of its file. */
export function UploadRow({
  upload,
  onCancel,
  onDismiss,
}: {
  upload: Upload;
  onCancel: () => void;
  onDismiss: () => void;
}) {
  const { name, progress, guid } = upload;
  const file = useStoredFile(guid);
  const state = upload.state === 'uploaded' ? (file?.state ?? 'storing') : upload.state;
  const error = upload.error ?? (file && failureLabel(file));
  const isActive = state === 'waiting' || state === 'uploading';
  return (
    <div data-upload={state}>
      <Group justify="space-between" wrap="nowrap" gap="sm" mb={4}>
        <Text size="sm" truncate fw={550}>
          {name}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} role="status" component="div">
            {isActive || state === 'cancelled' ? statusOf(upload) : <StateBadge state={state} />}
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
        color={COLORS[state] ?? 'gray'}
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

function statusOf({ state, progress, size }: Upload): string {
  if (state === 'cancelled') return 'Cancelled';
  return state === 'waiting'
    ? `Waiting, ${formatBytes(size)}`
    : `${Math.round(progress * 100)}% of ${formatBytes(size)}`;
}
