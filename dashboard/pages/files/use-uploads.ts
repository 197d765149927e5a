import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CONTENT_TYPES } from '../../../server/files/file-types.ts';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { put } from './upload.ts';

export type Upload = {
  key: number;
  name: string;
  size: number;
  /** From 0 to 1. */
  share: number;
  state: 'uploading' | 'done' | 'failed';
  problem?: string;
};

export type Purpose = { type: string; customer_guid: string };

/** Each file by itself: a record first, then its bytes straight to the upload URL. */
export function useUploads() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const nextKey = useRef(0);

  const change = (key: number, changes: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)));

  async function send(key: number, file: File, purpose: Purpose, signal: AbortSignal): Promise<void> {
    const record = await api.post<StoredFile>('/files', {
      ...purpose,
      filename: file.name,
      content_type: file.type,
    });
    if (record.upload_url === undefined) throw new Error('The service gave no address to upload to.');
    await put(record.upload_url, file, { onProgress: (share) => change(key, { share }), signal });
  }

  async function start(file: File, purpose: Purpose): Promise<void> {
    const key = nextKey.current++;
    const upload = { key, name: file.name, size: file.size, share: 0, state: 'uploading' } as const;
    setUploads((all) => [upload, ...all]);
    if (!CONTENT_TYPES.includes(file.type))
      return change(key, { state: 'failed', problem: 'Only JPEG, PNG, PDF, JSON and MP4' });
    const stop = new AbortController();
    running.current.set(key, stop);
    try {
      await send(key, file, purpose, stop.signal);
      change(key, { state: 'done', share: 1 });
    } catch (error) {
      change(key, { state: 'failed', problem: (error as Error).message });
    } finally {
      running.current.delete(key);
      await queries.invalidateQueries({ queryKey: [api.key, '/files'] });
    }
  }

  return {
    uploads,
    add: (files: readonly File[], purpose: Purpose) => {
      for (const file of files) void start(file, purpose);
    },
    cancel: (key: number) => running.current.get(key)?.abort(),
    dismiss: (key: number) => setUploads((all) => all.filter((upload) => upload.key !== key)),
  };
}
