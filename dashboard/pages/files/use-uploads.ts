import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CONTENT_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { useNavigationGuard } from '../../session/freeze.ts';
import { useWorkspace } from '../../session/workspace.ts';
import type { Search } from '../../shared/filters/search.ts';
import { createLimiter } from './create-limiter.ts';
import { put } from './put-file.ts';

export type Upload = {
  key: number;
  name: string;
  size: number;
  /** From 0 to 1. */
  share: number;
  state: 'waiting' | 'uploading' | 'done' | 'failed' | 'cancelled';
  problem?: string;
};

export type Purpose = { type: string; customer_guid: string };

/** More would only share the same line, and each would take longer. */
const AT_ONCE = 3;

/** Each file by itself, a few at a time: a record first, then its bytes straight to the upload URL. */
export function useUploads() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [turns] = useState(() => createLimiter(AT_ONCE));
  const stops = useRef(new Map<number, AbortController>());
  const nextKey = useRef(0);
  useNavigationGuard(
    uploads.some(({ state }) => state === 'waiting' || state === 'uploading'),
    'Files are still being uploaded. Wait for them, or cancel them, before you leave.',
    ({ current, next }) =>
      current.pathname !== next.pathname || placeOf(current.search) !== placeOf(next.search),
  );

  const change = (key: number, changes: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)));

  async function send(key: number, file: File, purpose: Purpose, signal: AbortSignal): Promise<void> {
    change(key, { state: 'uploading' });
    const record = await api.post<StoredFile>('/files', {
      ...purpose,
      filename: file.name,
      content_type: file.type,
    });
    signal.throwIfAborted();
    if (record.upload_url === undefined) throw new Error('The service gave no address to upload to.');
    await put(record.upload_url, file, { onProgress: (share) => change(key, { share }), signal });
  }

  async function start(key: number, file: File, purpose: Purpose): Promise<void> {
    if (!CONTENT_TYPES.includes(file.type))
      return change(key, { state: 'failed', problem: 'Only JPEG, PNG, PDF, JSON and MP4' });
    const stop = new AbortController();
    stops.current.set(key, stop);
    try {
      await turns.run(stop.signal, () => send(key, file, purpose, stop.signal));
      change(key, { state: 'done', share: 1 });
    } catch (error) {
      // Whoever cancelled it has been told so already.
      if (!stop.signal.aborted) change(key, { state: 'failed', problem: (error as Error).message });
    } finally {
      stops.current.delete(key);
      await queries.invalidateQueries({ queryKey: [api.key, '/files'] });
    }
  }

  return {
    uploads,
    add: (files: readonly File[], purpose: Purpose) => {
      const added = files.map((file) => ({ key: nextKey.current++, file }));
      const rows = added.map(({ key, file }) => ({
        ...{ key, name: file.name, size: file.size, share: 0, state: 'waiting' as const },
      }));
      setUploads((all) => [...rows, ...all]);
      for (const { key, file } of added) void start(key, file, purpose);
    },
    /** At once, also while it waits for its turn or for its address. */
    cancel: (key: number) => {
      stops.current.get(key)?.abort();
      change(key, { state: 'cancelled' });
    },
    dismiss: (key: number) => setUploads((all) => all.filter((upload) => upload.key !== key)),
  };
}

/** Other filters show other rows of the same page; another bank is another page. */
function placeOf({ org, bank }: Search): string {
  return `${org} ${bank}`;
}
