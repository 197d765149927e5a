import { createServer, type Socket } from 'node:net';

/** How this clamd behaves; what it is told is `received`, without the framing. */
export type Behaviour = {
  /** Bytes after which it says that it is enough and hangs up, as with `StreamMaxLength`. */
  maxBytes?: number;
  /** What it answers to the whole; nothing: it never does. */
  answer?: string;
  /** What it says before it was asked anything. */
  greeting?: string;
  /** It does not read what it is sent. */
  isDeaf?: boolean;
  hangsUp?: 'at once' | 'at the end';
};

const INFECTED = 'EICAR';
const PREFIX = 'zINSTREAM\0';

/** clamd's INSTREAM over a real socket; finds a virus wherever the word is. */
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
    /** In the middle of whatever is sent to it, with a last word. */
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

/** undefined until the whole chunk is there. */
function nextSize(buffered: Buffer): number | undefined {
  if (buffered.length < 4) return undefined;
  const size = buffered.readUInt32BE();
  return buffered.length >= 4 + size ? size : undefined;
}
