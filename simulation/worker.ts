import { createWriteStream } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { install } from './machine/rest.ts';
import { type SeedOptions, simulateSeed } from './seed.ts';

/** A process that simulates seeds, one after another: its timers and random numbers belong to the simulation. */
type Command = Omit<SeedOptions, 'writeTrace'> & { traceFile?: string };

install();
process.on('message', (command: Command) => void simulate(command));

async function simulate({ traceFile, ...options }: Command): Promise<void> {
  const file = traceFile === undefined ? undefined : createWriteStream(traceFile);
  const writeTrace = file ? (line: string) => void file.write(`${line}\n`) : undefined;
  const report = await simulateSeed({ ...options, writeTrace });
  if (file) await new Promise<void>((resolve) => file.end(() => resolve()));
  // The process is killed after its last seed.
  flushCompileCache();
  process.send?.(report);
}
