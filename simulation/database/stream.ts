import { Duplex } from 'node:stream';

/** What the simulated network does with the bytes of a connection. */
export type StreamEvents = {
  connect(): void;
  write(chunk: Buffer): void;
  /** The client has closed or destroyed the stream. */
  closed(): void;
};

/** The client's end of a database connection, with the methods of a socket that pg uses. */
export class SimulatedStream extends Duplex {
  bytesRead = 0;
  readonly #events: (stream: SimulatedStream) => StreamEvents;
  #handlers: StreamEvents | undefined;

  constructor(events: (stream: SimulatedStream) => StreamEvents) {
    super({ allowHalfOpen: false });
    this.#events = events;
  }

  connect(): this {
    this.#handlers = this.#events(this);
    this.#handlers.connect();
    return this;
  }

  setNoDelay = () => this;
  setKeepAlive = () => this;
  ref = () => this;
  unref = () => this;

  deliver(bytes: Buffer): void {
    if (this.destroyed) return;
    this.bytesRead += bytes.length;
    this.push(bytes);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#handlers?.write(chunk);
    done();
  }

  override _final(done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#handlers?.closed();
    done(error);
  }
}
