import { createServer, type Socket } from 'node:net';

/** The behaviour of the double. `received` has the content without the framing. */
export type Behaviour = {
  /** Bytes after which it reports the limit and closes the connection, as with `StreamMaxLength`. */
  maxBytes?: number;
  /** The reply to the whole content; undefined: none. */
  answer?: string;
  /** The reply before any request. */
  greeting?: string;
  /** Leaves the received data unread. */
  isDeaf?: boolean;
  hangsUp?: 'at once' | 'at the end';
};

const INFECTED = 'EICAR';
const PREFIX = 'zINSTREAM\0';

/** INSTREAM of clamd over a real socket; content with the word is a virus. */
export async function createClamdDouble(behaviour: Behaviour = {}, path?: string) {
  const conversations: { received: Buffer; chunks: number[]; isWhole: boolean }[] = [];

  function converse(socket: Socket): void {
    const conversation = { received: Buffer.alloc(0), chunks: [] as number[], isWhole: false };
    conversations.push(conversation);
    socket.on('error', () => {});
    if (behaviour.hangsUp === 'at once') return void socket.destroy();
    if (behaviour.isDeaf) return void socket.pause();
    if (behaviour.greeting) socket.write(behaviour.greeting);
    let buffered = Buffer.alloc(0);
    let isNamed = false;
    socket.on('data', (piece: Buffer) => {
      buffered = Buffer.concat([buffered, piece]);
      if (!isNamed) {
        if (buffered.length < PREFIX.length) return;
        if (buffered.toString('latin1', 0, PREFIX.length) !== PREFIX)
          return void socket.end('UNKNOWN COMMAND\0');
        buffered = buffered.subarray(PREFIX.length);
        isNamed = true;
      }
      for (let size = nextSize(buffered); size !== undefined; size = nextSize(buffered)) {
        if (size === 0) {
          conversation.isWhole = true;
          return finish(socket, conversation.received);
        }
        conversation.chunks.push(size);
        conversation.received = Buffer.concat([conversation.received, buffered.subarray(4, 4 + size)]);
        buffered = buffered.subarray(4 + size);
        if (conversation.received.length > (behaviour.maxBytes ?? Number.POSITIVE_INFINITY)) {
          socket.write('INSTREAM size limit exceeded. ERROR\0');
          return void socket.destroySoon();
        }
      }
    });
  }

  function finish(socket: Socket, received: Buffer): void {
    if (behaviour.hangsUp === 'at the end') return void socket.destroy();
    if (behaviour.answer !== undefined) return void (behaviour.answer && socket.write(behaviour.answer));
    socket.end(received.includes(INFECTED) ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0');
  }

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    converse(socket);
  });
  await new Promise<void>((resolve) =>
    path ? server.listen(path, resolve) : server.listen(0, '127.0.0.1', resolve),
  );
  const address = server.address();
  return {
    address: typeof address === 'string' ? address : `127.0.0.1:${address?.port}`,
    conversations,
    /** Closes the connection during a transfer, with a last reply. */
    hangUp(lastWord: string) {
      for (const socket of sockets) {
        socket.write(lastWord);
        socket.destroy();
      }
    },
    openConnections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Undefined until the whole chunk has arrived. */
function nextSize(buffered: Buffer): number | undefined {
  if (buffered.length < 4) return undefined;
  const size = buffered.readUInt32BE();
  return buffered.length >= 4 + size ? size : undefined;
}
