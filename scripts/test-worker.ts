import { resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { after, describe, mock } from './test-context.ts';
import { QUEUE_VARIABLE, takeNext } from './test-queue.ts';

/**
 * Runs test files one after another, so that the modules of the service are loaded and compiled once and not once per
 * file: about a second of CPU each. A suite per file, so that hooks outside of its tests belong to the file.
 */
const queue = process.env[QUEUE_VARIABLE];
if (!queue) throw new Error('npm test starts this file');
const environment = { ...process.env };
let running: string | undefined;
process.once('exit', () => {
  if (running) process.stderr.write(`${running} ended the process of the tests\n`);
});
for (running = takeNext(queue); running; running = takeNext(queue)) {
  await runFile(running);
  // A test that calls process.exit() must not start the next file while the process exits.
  await setImmediate();
}

function runFile(file: string): Promise<void> {
  return new Promise((done) => {
    describe(file, async () => {
      try {
        await import(pathToFileURL(resolve(file)).href);
      } finally {
        after(() => {
          mock.reset();
          for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
          Object.assign(process.env, environment);
          done();
        });
      }
    });
  });
}
