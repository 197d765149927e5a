import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CONTENT_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { isLeaving, useNavigationGuard } from '../../shared/forms/use-navigation-guard.ts';
import { createLimiter } from './create-limiter.ts';
import { putFile } from './put-file.ts';

export type Upload = {
  key: number;
  name: string;
  size: number;
  /** From 0 to 1. */
  progress: number;
  /** Afterwards the state is that of the file. */
  state: 'waiting' | 'uploading' | 'uploaded' | 'failed' | 'cancelled';
  /** The guid of the uploaded file. */
  guid?: string;
  error?: string;
};

type FileOwner = { type: string; customer_guid: string };

/** More would share the same bandwidth. */
const MAX_CONCURRENT_UPLOADS = 3;

/** Creates the record of each file, then sends its content to the upload URL. */
export function useUploads() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [limiter] = useState(() => createLimiter(MAX_CONCURRENT_UPLOADS));
  const abortControllers = useRef(new Map<number, AbortController>());
  const nextKey = useRef(0);
  useNavigationGuard(
    uploads.some(({ state }) => state === 'waiting' || state === 'uploading'),
    'Uploads are still running. Wait for them or cancel them before you leave.',
    isLeaving,
  );

  const change = (key: number, changes: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)));

  async function send(key: number, file: File, owner: FileOwner, signal: AbortSignal): Promise<string> {
    change(key, { state: 'uploading' });
    const record = await api.post<StoredFile>('/files', {
      ...owner,
      filename: file.name,
      content_type: file.type,
    });
    signal.throwIfAborted();
    if (record.upload_url === undefined) throw new Error('The service returned no upload URL.');
    await putFile(record.upload_url, file, { onProgress: (progress) => change(key, { progress }), signal });
    return record.guid;
  }

  async function start(key: number, file: File, owner: FileOwner): Promise<void> {
    if (!CONTENT_TYPES.includes(file.type))
      return change(key, { state: 'failed', error: 'Must be JPEG, PNG, PDF, JSON or MP4' });
    const controller = new AbortController();
    abortControllers.current.set(key, controller);
    try {
      const guid = await limiter.run(controller.signal, () => send(key, file, owner, controller.signal));
      change(key, { state: 'uploaded', progress: 1, guid });
    } catch (error) {
      if (!controller.signal.aborted) change(key, { state: 'failed', error: (error as Error).message });
    } finally {
      abortControllers.current.delete(key);
      await queries.invalidateQueries({ queryKey: [api.key, '/files'] });
    }
  }

  return {
    uploads,
    add: (files: readonly File[], owner: FileOwner) => {
      const added = files.map((file) => ({ key: nextKey.current++, file }));
      const rows = added.map(({ key, file }) => ({
        ...{ key, name: file.name, size: file.size, progress: 0, state: 'waiting' as const },
      }));
      setUploads((all) => [...rows, ...all]);
      for (const { key, file } of added) void start(key, file, owner);
    },
    cancel: (key: number) => {
      abortControllers.current.get(key)?.abort();
      change(key, { state: 'cancelled' });
    },
    dismiss: (key: number) => setUploads((all) => all.filter((upload) => upload.key !== key)),
  };
}
