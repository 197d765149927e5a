import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import { ListTimeout } from '../../../infrastructure/database/failures.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { createEventStream, type StreamRequest } from './event-stream.ts';
import { createEventStreams } from './event-streams.ts';
import { positionAt } from './position.ts';
import type { StreamedEvent } from './stream-store.ts';

const clock = createFakeClock();
const request: StreamRequest = {
  ...{ organizationGuid: 'a'.repeat(32), environments: ['sandbox'], types: undefined },
  isAllowed: () => true,
};
const horizon = { snapshot: '5:5:', floorMs: 0, database: '' };

function eventOf(eventType: string): StreamedEvent {
  return {
    ...{ guid: 'a', organization_guid: 'a', bank_guid: null, object_guid: 'a', environment: 'sandbox' },
    ...{ event_type: eventType, created_at: clock.now() },
    ...{ position: 'a', resent_at: null, subscription_guid: null },
  };
}

function open(overrides: Partial<StreamRequest>, read: () => Promise<StreamedEvent[]>) {
  const failures: unknown[] = [];
  const opened = createEventStream({ ...request, ...overrides }, positionAt(new Date(0)), {
    nowMs: () => clock.now().getTime(),
    ...{ latest: () => horizon, pageSize: 100, read },
    onFailure: (error) => failures.push(error),
  });
  opened.stream.on('error', () => undefined);
  return { ...opened, failures };
}

test('a client that does not read is disconnected, and nothing more is read for it', async () => {
  let reads = 0;
  const { stream, advance } = open({}, async () => {
    reads += 1;
    return Array.from({ length: 100 }, () => eventOf('x'.repeat(1_000)));
  });
  await until(() => stream.readableLength > 100_000, 'the first page');
  clock.advance(29_000);
  advance(horizon, true);
  assert.equal(stream.destroyed, false);
  clock.advance(1_000);
  advance(horizon, true);
  assert.equal(stream.destroyed, true);
  assert.equal(reads, 1);
});

test('a failed read and a failed token check are repeated after the next poll', async () => {
  let steps = 0;
  const failOnce = (step: number) => {
    steps += 1;
    if (steps === step) throw new Error(`step ${step}`);
  };
  const { stream, advance, failures } = open(
    {
      async isAllowed() {
        failOnce(1);
        return true;
      },
    },
    async () => {
      failOnce(3);
      return [eventOf('transfer.completed')];
    },
  );
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  for (const count of [1, 2]) {
    await until(() => failures.length === count, `failure ${count}`);
    assert.doesNotMatch(text, /data:/);
    await turn();
    advance(undefined, false);
  }
  await until(() => /data: .*transfer.completed/.test(text), 'the event');
  stream.destroy();
});

test('a read that always fails ends the connection', async () => {
  const { stream, advance } = open({}, async () => {
    throw new Error('canceled');
  });
  await until(() => {
    advance(undefined, false);
    return stream.destroyed;
  }, 'the end');
});

test('a stream ends that is stopped while its token is being checked', async () => {
  const checked = Promise.withResolvers<boolean>();
  const { stream, end } = open({ isAllowed: () => checked.promise }, async () => []);
  const ended = new Promise((resolve) => stream.once('end', resolve));
  stream.resume();
  await turn();
  end();
  checked.resolve(true);
  await ended;
});

test('concurrent requests cannot exceed the limit of streams', async () => {
  const app = await createTestApp();
  const eventStreams = createEventStreams({ ...app, clock, timers: clock });
  after(() => eventStreams.stop());
  const opening = Array.from({ length: 21 }, () => eventStreams.open({ ...request }, undefined));
  assert.ok((await Promise.race(opening)) instanceof Failure, 'refused without a query');
  const opened = await Promise.all(opening);
  assert.deepEqual(
    opened.map((each) => each instanceof Failure),
    [...Array(20).fill(false), true],
  );
  for (const each of opened) if (!(each instanceof Failure)) each.destroy();
});

const of = (organization: number): StreamRequest => ({
  ...request,
  organizationGuid: organization.toString(16).padStart(32, '0'),
});

test('the last streams of a process are for Organizations that have none', async () => {
  const app = await createTestApp();
  const eventStreams = createEventStreams({ ...app, clock, timers: clock });
  after(() => eventStreams.stop());
  const isRefused = async (organization: number) => {
    const opened = await eventStreams.open(of(organization), undefined);
    return opened instanceof Failure && opened.code;
  };
  for (let count = 0; count < 150; count += 1) assert.equal(await isRefused(count % 10), false);
  assert.equal(await isRefused(0), 'overloaded', 'one that has streams');
  for (let other = 10; other < 60; other += 1) assert.equal(await isRefused(other), false, `${other}`);
  assert.equal(await isRefused(60), 'overloaded');
});

test('a stream is opened after a failed snapshot, and the error of several is about the stream', async () => {
  const app = await createTestApp();
  let failures = 2;
  const database = {
    ...app.database,
    get lists() {
      failures -= 1;
      if (failures >= 0) throw new ListTimeout('canceled');
      return app.database.lists;
    },
  };
  const eventStreams = createEventStreams({ ...app, database, clock, timers: clock });
  after(() => eventStreams.stop());
  const opened = await eventStreams.open({ ...request }, undefined);
  assert.ok(!(opened instanceof Failure));
  opened.destroy();
  failures = 3;
  const refused = await eventStreams.open({ ...request }, undefined);
  assert.ok(refused instanceof Failure);
  assert.deepEqual(
    [refused.code, refused.message],
    ['overloaded', 'The event stream could not be opened; try again later'],
  );
});
