import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

/** A minimal mail server (RFC 5321) that stores messages, and fails when a test says so. */
export type Received = { from: string; to: string; data: string };

export async function createMailServer() {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let failures = 0;
  let refusal = '';
  let waiting: (() => void)[] = [];
  let released: Promise<void> | undefined;

  function converse(socket: Socket): void {
    let [from, to, data, buffered, inData] = ['', '', '', '', false];
    const say = (line: string) => socket.write(`${line}\r\n`);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    say('220 test');

    function take(line: string): void {
      if (inData && line !== '.') data += `${line.replace(/^\./, '')}\n`;
      else if (inData) {
        inData = false;
        received.push({ from, to, data });
        if (released) void released.then(() => say('250 kept'));
        else say('250 kept');
        for (const wake of waiting) wake();
        waiting = [];
      } else if (/^MAIL FROM/i.test(line)) {
        from = /<(.*)>/.exec(line)?.[1] ?? '';
        if (failures > 0) {
          failures -= 1;
          say(refusal);
        } else say('250 ok');
      } else if (/^RCPT TO/i.test(line)) {
        to = /<(.*)>/.exec(line)?.[1] ?? '';
        say('250 ok');
      } else if (/^DATA/i.test(line)) {
        [inData, data] = [true, ''];
        say('354 go on');
      } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n');
      else say('250 ok');
    }

    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (buffered + chunk).split('\r\n');
      buffered = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
  }

  const server = createServer(converse).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;

  return {
    received,
    settings: {
      PORTICO_SMTP_URL: `smtp://127.0.0.1:${port}`,
      PORTICO_MAIL_FROM: 'portico@operator.example',
    },
    /** Rejects the next messages, temporarily by default. */
    refuse(times: number, answer = '451 later'): void {
      [failures, refusal] = [times, answer];
    },
    /** Answers messages from now on after the returned function was called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      return resolve;
    },
    /** Waits for this many messages. */
    async until(count: number): Promise<void> {
      while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

/** The text of a message without the line breaks of its encoding (RFC 2045, section 6.7). */
export function textOf({ data }: Received): string {
  const [, body = ''] = data.split(/\n\n(.*)/s);
  return body
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
