import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { findServicePort } from '../../../testing/app/serve.ts';

/** A TCP proxy that cuts its connections on demand. */
export async function createCuttingProxy(targetPort: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port: targetPort, host: '127.0.0.1' });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    // A reset after a shutdown fails, and the handle would never be closed: the process could not exit.
    for (const socket of sockets) socket.writableEnded ? socket.destroy() : socket.resetAndDestroy();
  };
  after(() => {
    cut();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

type Received = { headers: Record<string, string | string[] | undefined>; body: string };

/** An HTTP server on a developer's machine, which restarts on demand. */
export async function createLocalServer() {
  const received: Received[] = [];
  let answer = (): number => 204;
  let server: Server | undefined;
  // Not one that the system chooses: an outgoing connection could take it during a restart.
  const port = await findServicePort();

  async function start(): Promise<void> {
    server = createHttpServer(async (request, response) => {
      const body = await text(request).catch(() => undefined);
      if (body === undefined) return;
      received.push({ headers: request.headers, body });
      response.writeHead(answer()).end();
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function stop(): Promise<void> {
    if (!server?.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  await start();
  after(stop);
  return {
    ...{ url: `http://127.0.0.1:${port}/hooks`, received, start, stop },
    answerWith(status: () => number): void {
      answer = status;
    },
    guids: () => received.map(({ body }) => (JSON.parse(body) as { guid: string }).guid),
  };
}
