import { Duplex } from 'node:stream';
import type { App } from '../../server/app.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';

/** A request whose body arrives in pieces. `inject` has no connection that could be cut. */
export type Upload = {
  url: string;
  contentType: string;
  pieces: readonly Buffer[];
  /** Between two pieces. */
  pauseMs: number;
  /** The connection ends after this many pieces. */
  cutAfter: number | undefined;
};

/** What the HTTP server uses of a socket. */
class SimulatedSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly #onAnswer: (bytes: Buffer) => void;

  constructor(onAnswer: (bytes: Buffer) => void) {
    super();
    this.#onAnswer = onAnswer;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#onAnswer(chunk);
    done();
  }

  setTimeout(): this {
    return this;
  }
}

/** The status of the answer; `lost` if there is none. */
export function sendUpload(
  app: App,
  owner: Owner,
  scheduler: Scheduler,
  { url, contentType, pieces, pauseMs, cutAfter }: Upload,
): Promise<number | 'lost'> {
  const { pathname, search, host } = new URL(url);
  const size = pieces.reduce((bytes, piece) => bytes + piece.length, 0);
  const head = [
    `PUT ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${size}`,
    'Connection: close',
  ];
  return new Promise((resolve) => {
    let answer = '';
    const socket = new SimulatedSocket((bytes) => {
      answer += bytes.toString('latin1');
      const [, status] = /^HTTP\/1\.1 (\d{3}).*\r\n\r\n/s.exec(answer) ?? [];
      if (status !== undefined) resolve(Number(status));
    });
    socket.on('error', () => resolve('lost')).on('close', () => resolve('lost'));
    let sent = 0;
    const next = () => {
      if (owner.isDead || socket.destroyed) return resolve('lost');
      if (sent === cutAfter) return void enter(owner, () => socket.destroy());
      const piece = pieces[sent];
      if (!piece) return;
      enter(owner, () => {
        if (sent === 0) {
          app.server.server.emit('connection', socket);
          socket.push(`${head.join('\r\n')}\r\n\r\n`);
        }
        socket.push(piece);
      });
      sent += 1;
      scheduler.add(pauseMs, { owner: undefined, label: `upload continues at ${owner.name}`, run: next });
    };
    next();
  });
}
