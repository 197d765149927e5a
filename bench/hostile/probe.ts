import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Child process of the benchmark: requests `/healthz` in a loop and reports the slowest response. */
export type Stall = { longestMs: number; answers: number };

const EVERY_MS = 2;
const url = `${process.argv[2]}/healthz`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let stall: Stall = { longestMs: 0, answers: 0 };
let isOver = false;

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(url, { agent }, (response) => {
      response.resume().once('end', () => {
        stall.longestMs = Math.max(stall.longestMs, performance.now() - startedAt);
        stall.answers += 1;
        resolve();
      });
    }).once('error', reject);
  });
}

process.on('message', () => {
  process.send?.(stall);
  stall = { longestMs: 0, answers: 0 };
});
process.once('disconnect', () => {
  isOver = true;
});

await ask();
process.send?.('ready');
while (!isOver) {
  await ask();
  await delay(EVERY_MS);
}
agent.destroy();
