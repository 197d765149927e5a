import { ActionIcon, Tooltip } from '@mantine/core';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyError } from '../../shared/feedback/notify.ts';
import { Icon } from '../../shared/text/Icon.tsx';

/** Download URLs expire quickly, so each click requests a new one. */
export function DownloadButton({ file }: { file: StoredFile }) {
  const { api } = useWorkspace();
  const download = async () => {
    const query = { include_download_url: true };
    const { download_url: url } = await api.get<StoredFile>(`/files/${file.guid}`, { query });
    if (url !== undefined) location.assign(url);
  };
  return (
    <Tooltip label="Download">
      <ActionIcon
        variant="default"
        size="md"
        aria-label={`Download ${file.filename}`}
        onClick={() => void download().catch(notifyError)}
      >
        <Icon name="download" size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
