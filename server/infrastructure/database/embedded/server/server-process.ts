import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { cleanEnvironment, runCommand } from '../../../runtime/run-command.ts';
import type { LaunchPlan } from './launcher.ts';

export type ServerProcess = Postmaster & {
  isGone(): boolean;
  /** Resolved when it has ended or could not be started. */
  readonly gone: Promise<void>;
  startError(): Error | undefined;
};

/**
 * In its own session, so that Ctrl-C reaches only portico and PostgreSQL runs until the requests in flight are
 * answered.
 */
export function spawnServer(plan: LaunchPlan, logFd: number): ServerProcess {
  let startError: Error | undefined;
  const child = spawn(plan.program, plan.args, {
    ...plan.options,
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', logFd, logFd],
    windowsHide: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      startError = error;
      resolve();
    });
  });
  // The child must not keep this process alive.
  child.unref();
  return {
    pid: child.pid ?? 0,
    isGone: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    gone,
    startError: () => startError,
  };
}

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
