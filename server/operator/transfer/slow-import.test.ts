import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createTestApp, OPERATOR_TOKEN } from '../../../testing/app/app.ts';
import { exportFrom, KEY, operator } from '../../../testing/app/cells.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { listenTo } from '../../../testing/objects/files.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { watchSender } from './sender-watch.ts';
import { TRANSFER_KEY_HEADER } from './transfer-key.ts';

const app = await createTestApp();
const operatorUrl = (await listenTo(app))('http://localhost:4000');
const { organizationGuid } = await createTenant(app);
const file = await exportFrom(app, organizationGuid);
const CHECK_MS = 600_000;

/** As Node does after an hour. */
function timeOut(): boolean {
  const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  return app.server.server.emit('clientError', error, serverSockets.at(-1));
}
const serverSockets: unknown[] = [];
app.server.server.on('connection', (socket) => serverSockets.push(socket));

test('the request timeout does not end an import', async () => {
  const timersBefore = app.clock.waiting();
  const outgoing = request(`${operatorUrl}/operator/import`, {
    method: 'PUT',
    headers: {
      ...{ authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' },
      [TRANSFER_KEY_HEADER]: KEY.reveal(),
    },
  });
  outgoing.write(file.subarray(0, 100));
  while (app.clock.waiting() === timersBefore) await setImmediate();
  assert.ok(timeOut());
  outgoing.end(file.subarray(100));
  const [response] = await once(outgoing, 'response');
  // The same installation has the Organization, so the whole file has arrived.
  assert.equal(response.statusCode, 409, JSON.stringify(await json(response)));
});

test('the request timeout ends other requests', async () => {
  const outgoing = request(`${operatorUrl}/operator/organizations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    agent: false,
  });
  const connected = once(app.server.server, 'connection');
  outgoing.write('{');
  await connected;
  assert.ok(timeOut());
  const [response] = await once(outgoing, 'response');
  assert.equal(response.statusCode, 408);
  outgoing.on('error', () => undefined).destroy();
});

test('an import whose file stops arriving is refused', async () => {
  const source = new PassThrough();
  const importing = app.transfers.import(operator, source, KEY);
  source.write(file.subarray(0, 100));
  await setImmediate();
  app.clock.advance(CHECK_MS);
  const refused = await importing;
  assert.ok(isFailure(refused) && refused.code === 'request_timeout', JSON.stringify(refused));
  assert.match(refused.message, /fewer than 65536 bytes of the file arrived in 10 minutes; import it again$/);
});

test('a sender is not blamed for a pause of the import', async () => {
  const clock = createFakeClock();
  const source = new PassThrough();
  const failures: Error[] = [];
  const end = watchSender(source, clock, (error) => failures.push(error));
  source.pause();
  clock.advance(2 * CHECK_MS);
  source.resume();
  source.write(Buffer.alloc(64 * 1024));
  await setImmediate();
  clock.advance(CHECK_MS);
  assert.deepEqual(failures, []);
  clock.advance(CHECK_MS);
  assert.equal(failures.length, 1);
  end();
  assert.equal(clock.waiting(), 0);
});
