import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';

type Pair = { client: Socket; upstream: Socket; owesAnswer(): boolean };
type Mode = 'forward' | 'silent' | 'refuse';

/**
 * A TCP proxy in front of PostgreSQL that fails like networks do: open connections become silent (a failover without a
 * reset), while new ones work, are silent as well, or are refused. Close it after its clients.
 */
export async function createSilentProxy(url: Secret) {
  const target = new URL(url.reveal());
  const pairs = new Set<Pair>();
  const silent = new Set<Pair>();
  let mode: Mode = 'forward';
  let accepted = 0;

  // Half-open: the end of a silent connection must not be answered either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (mode === 'refuse') return void client.resetAndDestroy();
    accepted += 1;
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    const pair = { client, upstream, owesAnswer: watchAnswers(client, upstream) };
    pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.on('error', () => drop(pair));
      socket.on('close', () => drop(pair));
    }
    if (mode === 'silent') return void silence(pair);
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function drop(pair: Pair): void {
    pairs.delete(pair);
    silent.delete(pair);
    pair.client.destroy();
    pair.upstream.destroy();
  }

  function silence(pair: Pair): void {
    silent.add(pair);
    for (const socket of [pair.client, pair.upstream]) {
      socket.unpipe();
      socket.pause();
    }
  }

  async function close(): Promise<void> {
    for (const pair of pairs) drop(pair);
    if (server.listening) await once(server.close(), 'close');
  }

  const proxied = new URL(target);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: new Secret(proxied.href),
    /** Connections accepted so far. */
    accepted: () => accepted,
    /** Whether PostgreSQL has yet to answer on a connection that is not silent. */
    owesAnswer: () => [...pairs].some((pair) => !silent.has(pair) && pair.owesAnswer()),
    /** Open connections become silent; new ones work. */
    silenceOpen: () => pairs.forEach(silence),
    /** Open and new connections are silent. */
    silenceAll() {
      mode = 'silent';
      pairs.forEach(silence);
    },
    /** Open and new connections are reset. */
    refuseAll() {
      mode = 'refuse';
      for (const pair of pairs) {
        pair.client.resetAndDestroy();
        drop(pair);
      }
    },
    /** New connections work again. */
    restore() {
      mode = 'forward';
    },
    /** PostgreSQL gives up silent connections, as it does after some minutes without an answer to TCP keepalives. */
    dropSilent: () => silent.forEach(drop),
    close,
  };
}

/** Every Query and Sync is answered by one ReadyForQuery, and so is the login. */
function watchAnswers(client: Socket, upstream: Socket): () => boolean {
  const asked = createMessageCounter('QS', { hasStartup: true });
  const answered = createMessageCounter('Z');
  client.on('data', asked.read);
  upstream.on('data', answered.read);
  return () => answered.count() < asked.count() + 1;
}

/** Messages have a type and a length, the startup message only a length (PostgreSQL's protocol 3.0). */
function createMessageCounter(types: string, { hasStartup = false } = {}) {
  let typeBytes = hasStartup ? 0 : 1;
  let rest = Buffer.alloc(0);
  let count = 0;
  return {
    count: () => count,
    read(chunk: Buffer): void {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= typeBytes + 4) {
        const bytes = typeBytes + rest.readUInt32BE(typeBytes);
        if (rest.length < bytes) return;
        if (typeBytes > 0 && types.includes(rest.toString('latin1', 0, 1))) count += 1;
        rest = rest.subarray(bytes);
        typeBytes = 1;
      }
    },
  };
}
