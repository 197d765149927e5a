import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { type EventType, Portico } from '../index.ts';

/** The token and the client secret reach no other host. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    answer(request.resume(), response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

test('redirects are not followed', async () => {
  const stranger = await serve((_, response) => response.end('{}'));
  const service = await serve((_, response) =>
    response.writeHead(307, { location: `${stranger.url}/taken` }).end(),
  );
  const baseUrl = service.url;
  const keyPair = { clientId: 'id', clientSecret: 'secret', scopes: ['banks:read'] as const };
  await assert.rejects(new Portico({ ...keyPair, baseUrl }).token(), { status: 307 });
  const portico = new Portico({ token: 'token', baseUrl });
  await assert.rejects(portico.customers.create({ type: 'individual', bank_guid: 'b' }), { status: 307 });
  await assert.rejects(portico.stream('/api/files/f/content'), { status: 307 });
  assert.deepEqual(stranger.paths, []);
  assert.equal(service.paths.length, 3);
});

test('a path names no other host, and an id no other path', async () => {
  const service = await serve((_, response) => response.end('{}'));
  const { host } = new URL((await serve((_, response) => response.end('{}'))).url);
  const portico = new Portico({ token: 'token', baseUrl: service.url });
  const refused = { name: 'ConfigurationError' };
  for (const path of [`@${host}/`, `.${host}/`, `:1@${host}/`, `http://${host}/`, ''])
    await assert.rejects(portico.stream(path), refused, path);
  for (const id of ['', '.', '..']) {
    await assert.rejects(portico.customers.get(id), refused);
    await assert.rejects(portico.request('GET /api/customers/{guid}', { path: { guid: id } }), refused);
    const event = { event_type: 'transfer.completed' as EventType, object_guid: id };
    await assert.rejects(portico.fetchObject(event), refused);
  }
  assert.deepEqual(service.paths, []);
  await portico.customers.get('../banks?x#y');
  assert.deepEqual(service.paths, ['GET /api/customers/..%2Fbanks%3Fx%23y']);
});

test('an answer with any code is an error, and a page that follows itself ends the list', async () => {
  const broken = await serve((_, response) =>
    response.writeHead(400).end('{"message_code":"constructor","message":"no"}'),
  );
  await assert.rejects(new Portico({ token: 'token', baseUrl: broken.url }).banks.get('g'), {
    ...{ status: 400, message: 'no', messageCode: 'constructor' },
  });
  const endless = await serve((_, response) => response.end('{"objects":[{}],"next":"same"}'));
  const list = new Portico({ token: 'token', baseUrl: endless.url }).banks.list();
  await assert.rejects(list.toArray({ limit: 1_000 }), { name: 'ConnectionError' });
  assert.equal(endless.paths.length, 2);
});
