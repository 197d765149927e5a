import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { processStartTime } from '../server/process-identity.ts';
import { isErrorCode } from './file-problem.ts';

const RETRY_AFTER_MS = 20;
const GIVE_UP_AFTER_MS = 10_000;

export type LockFile = { release(): Promise<void> };
export type HeldLock = { readonly heldByPid: number };
type Claim = { readonly pid: number; readonly startedAt: string; readonly text: string };

/** A lock that ends with its process: the file names the holder and counts only while that process lives. */
export async function acquireLockFile(path: string): Promise<LockFile | HeldLock> {
  const own = await claimOfThisProcess();
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  while (Date.now() < giveUpAt) {
    if (await place(path, own)) return { release: () => removeIfStill(path, own) };
    const text = await readText(path);
    if (text === undefined) continue;
    const claim = parseClaim(text);
    if (claim !== undefined && (await processStartTime(claim.pid)) === claim.startedAt)
      return { heldByPid: claim.pid };
    await discardStale(path, text);
  }
  throw Object.assign(new Error(`the lock ${path} keeps changing its holder`), { path });
}

/**
 * Two processes may find the same stale lock. Without a second lock, the slower one would remove the lock that the
 * faster one has just taken.
 */
async function discardStale(path: string, staleText: string): Promise<void> {
  const removing = await acquireLockFile(`${path}.stale`);
  if ('heldByPid' in removing) {
    await delay(RETRY_AFTER_MS);
    return;
  }
  try {
    await removeIfStill(path, staleText);
  } finally {
    await removing.release();
  }
}

async function claimOfThisProcess(): Promise<string> {
  const startedAt = (await processStartTime(process.pid)) ?? 'unknown';
  return `${JSON.stringify({ pid: process.pid, startedAt, token: randomUUID() })}\n`;
}

/** Written to a temporary file and linked: the lock appears atomically, and only if it is free. */
async function place(path: string, claim: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await writeFile(aside, claim, { flag: 'wx', mode: 0o600 });
    await link(aside, path);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function removeIfStill(path: string, claim: string): Promise<void> {
  if ((await readText(path)) === claim) await rm(path, { force: true });
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** `undefined` for content of another format, which locks nothing. */
function parseClaim(text: string): Claim | undefined {
  try {
    const { pid, startedAt } = JSON.parse(text) as Partial<Claim>;
    return Number.isSafeInteger(pid) && typeof startedAt === 'string'
      ? { pid: pid as number, startedAt, text }
      : undefined;
  } catch {
    return undefined;
  }
}
