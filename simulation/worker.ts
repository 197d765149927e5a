import { closeSync, openSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
// The service loads it with its first file; within a step, the first seed of a process would differ from the others.
import 'file-type';
import { resumeAll } from './database/backend.ts';
import { install } from './machine/rest.ts';
import { type SeedOptions, simulateSeed } from './seed.ts';

/** A process that simulates seeds, one after another: its timers and random numbers belong to the simulation. */
type Command = Omit<SeedOptions, 'writeTrace'> & { traceFile?: string };

install();
process.on('exit', resumeAll);
for (const ending of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'])
  process.once(ending, () => process.exit());
process.on('message', (command: Command) => void simulate(command));

async function simulate({ traceFile, ...options }: Command): Promise<void> {
  // In this thread: a line is written in the middle of a step.
  const file = traceFile === undefined ? undefined : openSync(traceFile, 'w');
  const writeTrace = file === undefined ? undefined : (line: string) => void writeSync(file, `${line}\n`);
  const report = await simulateSeed({ ...options, writeTrace });
  if (file !== undefined) closeSync(file);
  // The process is killed after its last seed.
  flushCompileCache();
  process.send?.(report);
}
