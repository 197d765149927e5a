import { spawn } from 'node:child_process';
import type { LaunchPlan } from './launcher.ts';
import { cleanEnvironment } from './run-command.ts';
import type { Postmaster } from './stop-postmaster.ts';

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
