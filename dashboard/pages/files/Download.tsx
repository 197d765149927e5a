import { ActionIcon, Tooltip } from '@mantine/core';
import type { StoredFile } from '../../api/types.ts';
import { Icon } from '../../shared/Icon.tsx';
import { tellProblem } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';

/** The address is short-lived, so it is asked for when it is wanted. */
export function Download({ file }: { file: StoredFile }) {
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
        onClick={() => void download().catch(tellProblem)}
      >
        <Icon name="download" size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
