import { Radio, Skeleton, Stack, Text } from '@mantine/core';
import type { RecoveryKind, RecoveryPreview } from '../../../api/types.ts';
import { effectOf, formatCount, KIND_LABELS } from './kinds.ts';

const KINDS = Object.keys(KIND_LABELS) as RecoveryKind[];

export function KindChoice({
  preview,
  value,
  onChange,
}: {
  preview: RecoveryPreview | undefined;
  value: RecoveryKind;
  onChange: (kind: RecoveryKind) => void;
}) {
  if (!preview) return <Skeleton height={180} />;
  return (
    <>
      <Text size="sm" fw={600} role="status">
        {formatCount(preview.failed)} failed for good · {formatCount(preview.waiting)} still retried
        automatically · {formatCount(preview.all)} {preview.all === 1 ? 'event' : 'events'}
      </Text>
      <Radio.Group
        aria-label="What to redeliver"
        value={value}
        onChange={(kind) => onChange(kind as RecoveryKind)}
      >
        <Stack gap="sm">
          {KINDS.map((kind) => (
            <Radio key={kind} value={kind} label={KIND_LABELS[kind]} description={effectOf(kind, preview)} />
          ))}
        </Stack>
      </Radio.Group>
    </>
  );
}
