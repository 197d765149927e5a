import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../../../testing/database/database.ts';
import { until } from '../../../../testing/webhooks/webhooks.ts';
import { createNotifications, MAX_PAYLOAD_BYTES } from './notifications.ts';

const { testDatabase, database, log } = await openTestDatabase({ connections: 3 });
const { queries } = database;

function create() {
  const notifications = createNotifications({ url: testDatabase.url, queries, log });
  after(notifications.close);
  return notifications;
}

async function listeners(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and application_name = 'portico listen'`.execute(queries);
  return rows.map(({ pid }) => pid);
}

test('payloads arrive on their channel, in order, up to the maximum length', async () => {
  const [speaker, listener] = [create(), create()];
  const [heard, others]: [unknown[], unknown[]] = [[], []];
  await listener.listen('one', (payload) => heard.push(payload));
  await listener.listen('two', (payload) => others.push(payload));
  heard.length = 0;
  others.length = 0;
  const payloads = ['a', 'x'.repeat(MAX_PAYLOAD_BYTES), `"'{},\\`, 'b'];
  await speaker.notify('one', payloads);
  await speaker.notify('one');
  await until(() => heard.length === 5, 'all of them');
  assert.deepEqual([heard, others], [[...payloads, ''], []]);
  await assert.rejects(speaker.notify('one', ['x'.repeat(MAX_PAYLOAD_BYTES + 1)]), /payload string too long/);
});

test('several listeners share one connection, and each is called once', async () => {
  const notifications = create();
  const before = await listeners();
  const heard: string[] = [];
  await Promise.all(
    ['one', 'two', 'three'].map((channel) =>
      notifications.listen(channel, (payload) => payload && heard.push(`${channel} ${payload}`)),
    ),
  );
  assert.equal((await listeners()).length, before.length + 1);
  for (const channel of ['one', 'two', 'three', 'one']) await notifications.notify(channel, ['x']);
  await until(() => heard.length === 4, 'all of them');
  assert.deepEqual(heard, ['one x', 'two x', 'three x', 'one x']);
});

test('after a lost connection it reconnects once and calls the handlers', async () => {
  const notifications = create();
  const before = new Set(await listeners());
  const heard: (string | undefined)[] = [];
  await notifications.listen('one', (payload) => heard.push(payload));
  heard.length = 0;
  const [own] = (await listeners()).filter((pid) => !before.has(pid));
  await sql`select pg_terminate_backend(${own})`.execute(queries);
  // A concurrent listener does not open a second connection.
  await until(async () => !(await listeners()).includes(own as number), 'the end of the connection');
  await notifications.listen('two', () => undefined);
  await until(() => heard.length > 0, 'the connection');
  assert.deepEqual(heard, [undefined]);
  await notifications.notify('one', ['x']);
  await until(() => heard.length > 1, 'the message');
  assert.deepEqual(heard, [undefined, 'x']);
  assert.equal((await listeners()).filter((pid) => !before.has(pid)).length, 1);
});

const RECONNECT_MS = 1_000;

/** On connections that refuse LISTEN, as those of a standby do, until a test says otherwise. */
function createRefused() {
  const clock = createFakeClock();
  let [isRefusing, opened, closed, refused] = [true, 0, 0, 0];
  const stream = () => {
    opened += 1;
    const socket = new Socket().once('close', () => (closed += 1));
    const write = socket.write.bind(socket) as (bytes: unknown, ...rest: unknown[]) => boolean;
    // `connect` would restore the method.
    return socket.once('connect', () => {
      socket.write = (bytes: unknown, ...rest: unknown[]) => {
        const sent = isRefusing ? withoutListen(bytes) : bytes;
        if (sent !== bytes) refused += 1;
        return write(sent, ...rest);
      };
    });
  };
  const notifications = createNotifications({ url: testDatabase.url, queries, log, timers: clock, stream });
  after(notifications.close);
  const reconnected = (isMet: () => boolean) =>
    until(() => {
      // An open connection has all the time it needs: the checks of its health follow the clock, too.
      if (opened === closed) clock.advance(RECONNECT_MS);
      return isMet();
    }, 'another connection');
  return {
    notifications,
    reconnected,
    opened: () => opened,
    refused: () => refused,
    setRefusing(value: boolean) {
      isRefusing = value;
    },
  };
}

/** With an error of the same length instead. */
function withoutListen(bytes: unknown): unknown {
  const text = Buffer.isBuffer(bytes) ? bytes.toString('latin1') : '';
  return text.includes('listen "') ? Buffer.from(text.replace('listen "', 'lesson "'), 'latin1') : bytes;
}

test('a connection that refuses LISTEN is replaced until one accepts it', async () => {
  const { notifications, reconnected, refused, setRefusing } = createRefused();
  const heard: unknown[] = [];
  await assert.rejects(
    notifications.listen('one', (payload) => heard.push(payload)),
    /lesson/,
  );
  await reconnected(() => refused() >= 3);
  assert.deepEqual(heard, []);
  setRefusing(false);
  await reconnected(() => heard.length > 0);
  await notifications.notify('one', ['x']);
  await until(() => heard.length > 1, 'the message');
  assert.deepEqual(heard, [undefined, 'x']);
});

test('a connection that refuses another channel is replaced, and no message arrives twice', async () => {
  const { notifications, reconnected, opened, setRefusing } = createRefused();
  const before = new Set(await listeners());
  const ofOwn = async () => (await listeners()).filter((pid) => !before.has(pid)).length;
  const heard: unknown[] = [];
  setRefusing(false);
  await notifications.listen('one', (payload) => payload && heard.push(payload));
  setRefusing(true);
  await assert.rejects(
    notifications.listen('two', (payload) => payload && heard.push(payload)),
    /lesson/,
  );
  setRefusing(false);
  await reconnected(() => opened() >= 3);
  await notifications.listen('three', () => undefined);
  await notifications.notify('one', ['x']);
  await notifications.notify('two', ['y']);
  await until(() => heard.length > 1, 'the messages');
  assert.deepEqual(heard, ['x', 'y']);
  await until(async () => (await ofOwn()) === 1, 'the end of the other connections');
});
