import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../../shared/feedback/notify.ts';

/** Download URLs expire quickly, so each download requests a new one. */
export function useDownload(): (file: StoredFile) => Promise<void> {
  const { api } = useWorkspace();
  return async ({ guid }) => {
    try {
      const query = { include_download_url: true };
      const { download_url: url } = await api.get<StoredFile>(`/files/${guid}`, { query });
      if (url !== undefined) location.assign(url);
    } catch (error) {
      notifyFailure('Download failed')(error);
    }
  };
}
