import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import {
  AUTHORITY,
  PARTNER_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
} from '../../../server/webhooks/deliveries/testing/certificates.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createLocalServer } from '../testing/network.ts';
import { startCli } from '../testing/process.ts';

/** The command line behind a proxy that shows its own certificates, and a local server with TLS. */
const POLL_MS = 5;
const app = await createTestApp({ clock: createFakeClock(new Date()) });
await app.server.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.server.address() as AddressInfo;
const tenant = await createTenant(app);
const directory = await mkdtemp(join(tmpdir(), 'portico-cli-'));
after(() => rm(directory, { recursive: true, force: true }));

async function untilServed(condition: () => boolean): Promise<void> {
  while (!condition()) {
    app.clock.advance(250);
    await delay(POLL_MS);
  }
}

/** The service with TLS. Only the proxy knows its host, which is in no DNS. */
async function createProxy() {
  const hosts = new Set<string | undefined>();
  const service = createTlsServer(PARTNER_CERTIFICATE, (client) => pipe(client, connect(port, '127.0.0.1')));
  const proxy = createHttpServer().on('connect', ({ url }, client: Socket) => {
    hosts.add(url);
    const upstream = connect((service.address() as AddressInfo).port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    pipe(client, upstream);
  });
  for (const server of [service, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => server.close());
  }
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, hosts };
}

function pipe(one: Socket, other: Socket): void {
  for (const socket of [one, other]) socket.on('error', () => undefined);
  one.pipe(other).pipe(one);
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
  after(() => one.destroy());
}

const proxy = await createProxy();
const authority = join(directory, 'authority.pem');
await writeFile(authority, AUTHORITY);
const variables = {
  ...{ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority },
  PORTICO_CLI_CONFIG_DIR: directory,
};
const start = (args: readonly string[], env: Record<string, string> = variables) =>
  startCli(args, { tenant, url: 'https://hooks.partner.test', env });

test(
  'a proxy and a certificate authority lead to the service, and no proxy to the local server',
  BOUNDED,
  async () => {
    const local = await createLocalServer();
    const listener = start(['listen', '--forward-to', local.url]);
    await untilServed(() => listener.err().includes('Listening') || listener.child.exitCode !== null);
    const guids = await publishEvents(app, tenant, 2);
    await untilServed(() => local.guids().length >= 2 || listener.child.exitCode !== null);
    assert.deepEqual(local.guids(), guids, listener.err());
    assert.deepEqual([...proxy.hosts], ['hooks.partner.test:443']);
    listener.child.kill('SIGKILL');
  },
);

test('doctor leaves the names to the proxy', BOUNDED, async () => {
  const { code, out, err } = await start(['doctor']).exited;
  assert.equal(code, 0, out + err);
  assert.match(out, /^DNS +ok +The proxy 127\.0\.0\.1:\d+ resolves names\n/);
});

test('without the authority the reason is printed', BOUNDED, async () => {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = variables;
  const { code, err } = await start(['events', 'list'], env).exited;
  assert.equal(code, 6);
  assert.match(err, /^portico: The request to hooks\.partner\.test failed: .*certificate/);
});

test(
  'a local server with a self-signed certificate is refused with advice, and used with --skip-verify',
  BOUNDED,
  async () => {
    let received = 0;
    const local = createHttpsServer(SELF_SIGNED_CERTIFICATE, (request, response) => {
      received += 1;
      request.resume();
      response.writeHead(204).end();
    });
    local.listen(0, '127.0.0.1');
    await once(local, 'listening');
    after(() => local.close());
    const args = [
      'listen',
      '--since',
      '1h',
      '--forward-to',
      `https://localhost:${(local.address() as AddressInfo).port}`,
    ];
    const { code, err } = await start(args).exited;
    assert.equal(code, 6);
    assert.match(
      err,
      /no TLS certificate that is trusted here .*\n.*NODE_EXTRA_CA_CERTS.* or use --skip-verify/,
    );
    assert.equal(received, 0);
    const listener = start([...args, '--skip-verify']);
    // The creation of the bank, and both events of the test above.
    await untilServed(() => received >= 3 || listener.child.exitCode !== null);
    assert.equal(received, 3, listener.err());
    listener.child.kill('SIGKILL');
  },
);
