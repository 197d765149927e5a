import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Icon, type IconName } from '../../shared/text/Icon.tsx';
import { DeleteFile } from './DeleteFile.tsx';
import { isPreviewable } from './preview/previewable.ts';
import { useDownload } from './use-download.ts';

const FilePreview = lazy(async () => ({ default: (await import('./preview/FilePreview.tsx')).FilePreview }));

export function FileActions({ file }: { file: StoredFile }) {
  const { can } = useWorkspace();
  const download = useDownload();
  const [open, setOpen] = useState<'preview' | 'delete'>();
  const close = () => setOpen(undefined);
  const { filename, state } = file;
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {isPreviewable(file) ? (
        <Action label="Preview" icon="eye" of={filename} onClick={() => setOpen('preview')} />
      ) : null}
      {state === 'completed' ? (
        <Action label="Download" icon="download" of={filename} onClick={() => void download(file)} />
      ) : null}
      {can('files:execute') ? (
        <Action label="Delete" icon="trash" of={filename} onClick={() => setOpen('delete')} />
      ) : null}
      {open === 'preview' ? (
        <Suspense>
          <FilePreview file={file} onClose={close} />
        </Suspense>
      ) : null}
      {open === 'delete' ? <DeleteFile file={file} onClose={close} /> : null}
    </Group>
  );
}

function Action(props: { label: string; icon: IconName; of: string; onClick: () => void }) {
  return (
    <Tooltip label={props.label}>
      <ActionIcon
        variant="default"
        size="md"
        aria-label={`${props.label} ${props.of}`}
        onClick={props.onClick}
      >
        <Icon name={props.icon} size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
