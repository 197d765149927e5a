import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Service, startScript, startService } from '../webhooks/service.ts';
import type { BareServer } from './bare-server.ts';
import { createPartner, type Partner } from './partner.ts';
import { createContent, put, sha256Of } from './uploading.ts';

const MEBIBYTE = 1024 ** 2;
const LARGE_BYTES = 1024 * MEBIBYTE;
const WARM_UP_BYTES = 64 * MEBIBYTE;
const ROUNDS = 5;
const MUST = 0.5;
const AIM = 0.8;
const MUST_ADD_AT_MOST_MB = 100;
const AIM_ADD_AT_MOST_MB = 30;
/** Reading the metrics costs the service a few milliseconds. */
const MEMORY_EVERY_MS = 250;
const MANY = 50;
const MANY_BYTES = 20 * MEBIBYTE;

/**
 * Uploads by URL into the folder, compared with a server that only pipes the same bytes to the same disk; their memory
 * use; and many concurrent uploads.
 */
export async function benchFiles(): Promise<boolean> {
  const service = await startService();
  const bare = startScript('../files/bare-server.ts', service.dataDir);
  try {
    const [{ port }] = (await once(bare, 'message')) as [BareServer];
    const partner = await createPartner(service);
    const isFast = await compare(service, partner, `http://127.0.0.1:${port}`);
    const isWhole = await uploadMany(service, partner);
    return isFast && isWhole;
  } finally {
    bare.disconnect();
    await service.stop();
  }
}

/**
 * Runs the service and the reference alternately, so that other load on the machine affects both; the median of the
 * ratios.
 */
async function compare(service: Service, partner: Partner, bareUrl: string): Promise<boolean> {
  process.stdout.write(
    '\nfiles: a 1 GiB upload ÷ node:http piping it to the same disk with fsync\n  warming up\n',
  );
  // Before the first upload, so that memory that it allocates permanently counts as well.
  const beforeMb = await memoryOf(service);
  await uploadBare(bareUrl, WARM_UP_BYTES);
  await uploadOne(service, partner, WARM_UP_BYTES);
  const ratios: number[] = [];
  const added: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const reference = LARGE_BYTES / MEBIBYTE / (await uploadBare(bareUrl, LARGE_BYTES));
    const { seconds, memoryMb } = await uploadOne(service, partner, LARGE_BYTES);
    const own = LARGE_BYTES / MEBIBYTE / seconds;
    ratios.push(own / reference);
    const addedMb = memoryMb - beforeMb;
    added.push(addedMb);
    const figures = `portico ${Math.round(own)} MiB/s, bare ${Math.round(reference)} MiB/s`;
    process.stdout.write(
      `  round ${round} of ${ROUNDS}: ${figures}, ratio ${(own / reference).toFixed(2)}, memory +${Math.round(addedMb)} MB\n`,
    );
  }
  const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const most = Math.max(...added);
  const speed = ratio >= AIM ? 'aim reached' : ratio >= MUST ? 'enough' : 'TOO SLOW';
  const memory =
    most <= AIM_ADD_AT_MOST_MB ? 'aim reached' : most <= MUST_ADD_AT_MOST_MB ? 'enough' : 'TOO MUCH';
  process.stdout.write(`  ratio ${ratio.toFixed(2)} (must ${MUST}, aim ${AIM}): ${speed}\n`);
  process.stdout.write(
    `  memory at most +${Math.round(most)} MB (must ${MUST_ADD_AT_MOST_MB}, aim ${AIM_ADD_AT_MOST_MB}): ${memory}\n`,
  );
  return ratio >= MUST && most <= MUST_ADD_AT_MOST_MB;
}

async function uploadBare(url: string, bytes: number): Promise<number> {
  const seconds = await put(url, createContent(bytes));
  await fetch(url, { method: 'DELETE' });
  return seconds;
}

/** Waits until the file is completed, although the time ends with the response; then removes the stored content. */
async function uploadOne(service: Service, partner: Partner, bytes: number) {
  const content = createContent(bytes);
  const { guid, upload_url: url } = await partner.createFile();
  const memory = watchMemory(service);
  const seconds = await put(url, content);
  const { state, sha256 } = await partner.ended(guid);
  const memoryMb = await memory.stop();
  if (state !== 'completed' || sha256 !== sha256Of(content))
    throw new Error('an upload was not stored unchanged');
  forgetContent(service);
  return { seconds, memoryMb };
}

async function memoryOf(service: Service): Promise<number> {
  return (await service.metric('process_resident_memory_bytes')) / 1_000_000;
}

/** The maximum memory of the process meanwhile. */
function watchMemory(service: Service) {
  let isOver = false;
  const watching = (async () => {
    let most = 0;
    while (!isOver) {
      most = Math.max(most, await memoryOf(service));
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

async function uploadMany(service: Service, partner: Partner): Promise<boolean> {
  process.stdout.write(`\nfiles: ${MANY} uploads of ${MANY_BYTES / MEBIBYTE} MiB at once\n`);
  const startedAt = performance.now();
  const kept = await Promise.all(
    Array.from({ length: MANY }, async () => {
      const content = createContent(MANY_BYTES);
      const { guid, upload_url: url } = await partner.createFile();
      await put(url, content);
      const { state, sha256 } = await partner.ended(guid);
      return state === 'completed' && sha256 === sha256Of(content);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const lost = kept.filter((isKept) => !isKept).length;
  process.stdout.write(`  ${MANY - lost} of ${MANY} completed in ${seconds.toFixed(1)} s, ${lost} lost\n`);
  forgetContent(service);
  return lost === 0;
}

/** The rounds would otherwise need many gigabytes of disk. */
function forgetContent({ dataDir }: Service): void {
  rmSync(join(dataDir, 'data', 'files'), { recursive: true, force: true });
}
