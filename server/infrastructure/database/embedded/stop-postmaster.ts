import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from './run-command.ts';

/** Fast ends sessions and writes a checkpoint; immediate leaves recovery to the next start; the last one kills. */
const STEPS = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const;
const POLL_EVERY_MS = 20;

export type Postmaster = { readonly pid: number; isGone(): boolean | Promise<boolean> };

export async function stopPostmaster(postmaster: Postmaster, pgCtl: string): Promise<void> {
  for (const { signal, waitMs } of STEPS) {
    if (await postmaster.isGone()) return;
    await send(postmaster.pid, signal, pgCtl);
    const giveUpAt = Date.now() + waitMs;
    while (Date.now() < giveUpAt) {
      if (await postmaster.isGone()) return;
      await delay(POLL_EVERY_MS);
    }
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) does not stop`);
}

async function send(pid: number, signal: (typeof STEPS)[number]['signal'], pgCtl: string): Promise<void> {
  if (process.platform === 'win32') {
    // Windows has no signals; PostgreSQL emulates them with pg_ctl.
    await runCommand(pgCtl, ['kill', signal.replace('SIG', ''), String(pid)]);
    return;
  }
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself, which the next check shows.
  }
}
