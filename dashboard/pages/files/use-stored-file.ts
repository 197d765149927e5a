import { useQuery } from '@tanstack/react-query';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const REFRESH_MS = 2_000;

/** The file of an upload, until it has a final state. */
export function useStoredFile(guid: string | undefined): StoredFile | undefined {
  const { api } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, '/files', guid],
    queryFn: ({ signal }) => api.get<StoredFile>(`/files/${guid}`, { signal }),
    enabled: guid !== undefined,
    // A deleted file keeps the state it had.
    retry: false,
    refetchInterval: ({ state: { data: file, error } }) =>
      error || (file && file.state !== 'storing') ? false : REFRESH_MS,
  });
  return data;
}
