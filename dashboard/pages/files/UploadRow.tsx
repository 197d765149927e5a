import { Button, Group, Progress, Text } from '@mantine/core';
import type { Upload } from './use-uploads.ts';
import { bytes } from './words.ts';

export function UploadRow({
  upload,
  onCancel,
  onDismiss,
}: {
  upload: Upload;
  onCancel: () => void;
  onDismiss: () => void;
}) {
  const { name, size, share, state, problem } = upload;
  const color = { uploading: 'iris', done: 'teal', failed: 'red' }[state];
  return (
    <div data-upload={state}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" truncate fw={550}>
          {name}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} role="status">
            {state === 'uploading' ? `${Math.round(share * 100)}% of ${bytes(size)}` : null}
            {state === 'done' ? `Uploaded, ${bytes(size)}` : null}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={state === 'uploading' ? onCancel : onDismiss}
          >
            {state === 'uploading' ? 'Cancel' : 'Dismiss'}
          </Button>
        </Group>
      </Group>
      <Progress
        value={state === 'failed' ? 100 : share * 100}
        color={color}
        size="sm"
        aria-label={`Upload of ${name}`}
      />
      {problem ? (
        <Text size="xs" c="red" mt={4}>
          {problem}
        </Text>
      ) : null}
    </div>
  );
}
