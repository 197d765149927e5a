import { canEnterNamespace, runInNamespace } from './namespace.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { runTorture } from './run.ts';

/**
 * `npm run torture -- --minutes 5`: real processes on one PostgreSQL under random faults. Exits with 1 if a promise of
 * docs/reliability.md was broken.
 */
const INTERRUPTED = 130;

const options = readOptions();
if (options && canEnterNamespace()) process.exitCode = await runInNamespace();
else if (options) process.exitCode = await run(options);

function readOptions(): Options | undefined {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return undefined;
  }
  try {
    return parseOptions(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 1;
    return undefined;
  }
}

/** Ctrl-C ends every process that was started, and then this one. */
async function run(chosen: Options): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.abort());
  process.on('disconnect', () => interrupted.abort());
  try {
    return (await runTorture(chosen, interrupted.signal)) ? 0 : 1;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    process.stdout.write('interrupted: everything that was started has ended\n');
    return INTERRUPTED;
  }
}
