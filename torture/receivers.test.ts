import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bodyOf } from './content.ts';
import type { Arrival } from './receivers.ts';

const EVENT = {
  ...{ guid: '1', organization_guid: 'a', bank_guid: 'bank' },
  ...{ event_type: 'trade.completed', object_guid: 'object', environment: 'sandbox' },
};

async function startReceivers() {
  const folder = mkdtempSync(join(tmpdir(), 'portico-receivers-'));
  const log = join(folder, 'receivers.log');
  const child = fork(join(import.meta.dirname, 'receivers.ts'), [log]);
  after(async () => {
    child.disconnect();
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: () =>
      readFileSync(log, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Arrival),
  };
}

test('an arrival is logged with the SHA-256 of its bytes before it is answered', async () => {
  const { url, arrivals } = await startReceivers();
  const bodies = [bodyOf(EVENT), JSON.stringify(EVENT, null, 1)];
  // Without endpoints, so that the answer does not depend on when a message with them arrives.
  for (const body of bodies) assert.equal((await fetch(`${url}/a`, { method: 'POST', body })).status, 404);
  assert.deepEqual(
    arrivals().map(({ at: _, ...logged }) => logged),
    bodies.map((body) => ({
      ...{ path: '/a', status: 404, isGenuine: false },
      ...{ sha256: hash('sha256', body), event: EVENT },
    })),
  );
});
