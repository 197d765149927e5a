import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Figure } from '../runner/benchmark.ts';
import { startScript } from '../shared/children.ts';
import { compareRounds } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { createPartner, type Partner } from './partner.ts';
import { createContent, put, sha256Of } from './uploading.ts';

const MEBIBYTE = 1024 ** 2;
const LARGE_BYTES = 1024 * MEBIBYTE;
const WARM_UP_BYTES = 64 * MEBIBYTE;
/** Reading the metrics costs the service a few milliseconds. */
const MEMORY_EVERY_MS = 250;
const MANY = 50;
const MANY_BYTES = 20 * MEBIBYTE;

/**
 * Uploads by URL into the folder, compared with a server that only pipes the same bytes to the same disk; their memory
 * use; and many concurrent uploads.
 */
export async function benchFiles(context: Context): Promise<Figure[]> {
  const { resources } = context;
  const site = await startSite(resources);
  const { ready: port } = await startScript<number>(resources, 'files/bare-server.ts', site.folder);
  const partner = await createPartner(site);
  const figures = await compare(context, site, partner, `http://127.0.0.1:${port}`);
  return [...figures, await uploadMany(context, site, partner)];
}

async function compare(context: Context, site: Site, partner: Partner, bareUrl: string): Promise<Figure[]> {
  const { size, progress } = context;
  progress('warming up');
  // Before the first upload, so that memory that it allocates permanently counts as well.
  const beforeMb = await memoryOf(site);
  await uploadBare(bareUrl, WARM_UP_BYTES);
  await uploadOne(site, partner, WARM_UP_BYTES);
  const bytes = size(LARGE_BYTES);
  let addedMb = 0;
  const { ratio, ...details } = await compareRounds(context, {
    unit: ' MiB/s',
    reference: async () => bytes / MEBIBYTE / (await uploadBare(bareUrl, bytes)),
    async own() {
      const { seconds, memoryMb } = await uploadOne(site, partner, bytes);
      addedMb = Math.max(addedMb, memoryMb - beforeMb);
      return bytes / MEBIBYTE / seconds;
    },
  });
  return [
    { name: 'files upload', value: ratio, details },
    { name: 'files memory', value: addedMb },
  ];
}

async function uploadBare(url: string, bytes: number): Promise<number> {
  const seconds = await put(url, createContent(bytes));
  await fetch(url, { method: 'DELETE' });
  return seconds;
}

/** Waits until the file is completed, although the time ends with the response; then removes the stored content. */
async function uploadOne(site: Site, partner: Partner, bytes: number) {
  const content = createContent(bytes);
  const { guid, upload_url: url } = await partner.createFile();
  const memory = watchMemory(site);
  const seconds = await put(url, content);
  const { state, sha256 } = await partner.ended(guid);
  const memoryMb = await memory.stop();
  if (state !== 'completed' || sha256 !== sha256Of(content))
    throw new Error('an upload was not stored unchanged');
  forgetContent(site);
  return { seconds, memoryMb };
}

async function memoryOf(site: Site): Promise<number> {
  return (await site.metric('process_resident_memory_bytes')) / 1_000_000;
}

/** The maximum memory of the process meanwhile. */
function watchMemory(site: Site) {
  let isOver = false;
  const watching = (async () => {
    let most = 0;
    while (!isOver) {
      most = Math.max(most, await memoryOf(site));
      await delay(MEMORY_EVERY_MS);
    }
    return most;
  })();
  return {
    stop(): Promise<number> {
      isOver = true;
      return watching;
    },
  };
}

async function uploadMany({ size, progress }: Context, site: Site, partner: Partner): Promise<Figure> {
  progress(`${MANY} uploads of ${MANY_BYTES / MEBIBYTE} MiB at once`);
  const startedAt = performance.now();
  const kept = await Promise.all(
    Array.from({ length: MANY }, async () => {
      const content = createContent(size(MANY_BYTES));
      const { guid, upload_url: url } = await partner.createFile();
      await put(url, content);
      const { state, sha256 } = await partner.ended(guid);
      return state === 'completed' && sha256 === sha256Of(content);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const lost = kept.filter((isKept) => !isKept).length;
  forgetContent(site);
  return { name: 'files 50 at once', value: lost, details: { seconds } };
}

/** The rounds would otherwise need many gigabytes of disk. */
function forgetContent({ folder }: Site): void {
  rmSync(join(folder, 'data', 'files'), { recursive: true, force: true });
}
