import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase } from '../../../../testing/database.ts';
import { until } from '../../../../testing/webhooks.ts';
import { createLog } from '../../runtime/log.ts';
import { createDatabase } from '../database.ts';
import { createNotifications, MAX_PAYLOAD_BYTES } from './notifications.ts';

const testDatabase = await createTestDatabase();
const log = createLog({ level: 'silent', terminal: false });
const database = createDatabase({ url: testDatabase.url, connections: 3, log });
const { queries } = database;
after(async () => {
  await database.close();
  await testDatabase.drop();
});

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
