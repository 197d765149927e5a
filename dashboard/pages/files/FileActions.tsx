import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { Suspense } from 'react';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { lazyComponent } from '../../shared/loading/lazy-component.ts';
import { DialogNotLoaded } from '../../shared/loading/NotLoaded.tsx';
import { Icon, type IconName } from '../../shared/text/Icon.tsx';
import { DeleteFile } from './DeleteFile.tsx';
import { isPreviewable } from './preview/previewable.ts';
import { useDownload } from './use-download.ts';

const FilePreview = lazyComponent(
  async () => (await import('./preview/FilePreview.tsx')).FilePreview,
  ({ file, onClose }) => <DialogNotLoaded title={file.filename} onClose={onClose} />,
);

export type FileAction = { type: 'preview' | 'delete'; file: StoredFile };

export function FileActions({
  file,
  onAction,
}: {
  file: StoredFile;
  onAction: (action: FileAction) => void;
}) {
  const { can } = useWorkspace();
  const download = useDownload();
  const { filename, state } = file;
  const act = (type: FileAction['type']) => () => onAction({ type, file });
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {isPreviewable(file) ? (
        <Action label="Preview" icon="eye" of={filename} onClick={act('preview')} />
      ) : null}
      {state === 'completed' ? (
        <Action label="Download" icon="download" of={filename} onClick={() => void download(file)} />
      ) : null}
      {can('files:execute') ? (
        <Action label="Delete" icon="trash" of={filename} onClick={act('delete')} />
      ) : null}
    </Group>
  );
}

/** Rendered outside of the rows, so that a refresh that removes the row does not close it. */
export function FileDialog({ action: { type, file }, onClose }: { action: FileAction; onClose: () => void }) {
  if (type === 'delete') return <DeleteFile file={file} onClose={onClose} />;
  return (
    <Suspense>
      <FilePreview file={file} onClose={onClose} />
    </Suspense>
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
