import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBareServer, listenAnywhere } from '../../../testing/app/http-server.ts';
import { findServicePort } from '../../../testing/app/serve.ts';

/** A shutdown that waits for idle clients takes more than a minute. */
const LIMITED = { timeout: 60_000 };

test('a shutdown finishes the requests in flight and rejects new connections', LIMITED, async () => {
  const { server } = createBareServer();
  const entered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<{ done: boolean }>();
  server.get('/slow', { schema: { hide: true } }, () => {
    entered.resolve();
    return released.promise;
  });
  // No other process gets it after the shutdown.
  const port = await findServicePort();
  await server.listen({ port, host: '127.0.0.1' });
  // A keep-alive client must not delay the shutdown.
  const agent = new Agent({ keepAlive: true });
  const inFlight = once(get({ host: '127.0.0.1', port, path: '/slow', agent }), 'response');
  await entered.promise;
  const closed = server.close();
  while (server.server.listening) await setImmediate();
  const [refused] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
  assert.equal(refused.code, 'ECONNREFUSED');

  released.resolve({ done: true });
  const [response] = await inFlight;
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers.connection, 'close');
  assert.equal((await response.toArray()).join(''), '{"done":true}');
  await closed;
  agent.destroy();
});

test('an idle connection does not delay a shutdown', LIMITED, async () => {
  const { server } = createBareServer();
  server.get('/quick', { schema: { hide: true } }, async () => ({}));
  const port = await listenAnywhere(server);
  const agent = new Agent({ keepAlive: true });
  const [response] = await once(get({ host: '127.0.0.1', port, path: '/quick', agent }), 'response');
  await response.toArray();
  await server.close();
  agent.destroy();
});
