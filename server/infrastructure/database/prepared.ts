import pg from 'pg';

/**
 * A statement that begins with `/* prepared: name *\/` is parsed and planned once per connection. For small batches on
 * partitioned tables planning costs several times the execution. Its text must never vary.
 */
const MARK = /^\s*\/\* prepared: (\w+) \*\//;

/** A statement that begins with this is sent without waiting for its answer, which costs no round trip. */
const PIPELINED = '/* pipelined */';
const NO_RESULT = { command: 'SELECT', rowCount: 0, rows: [] };

type Query = (text: unknown, ...rest: unknown[]) => unknown;

export class PreparingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = super.query.bind(this) as Query;
    this.query = ((text: unknown, ...rest: unknown[]) => {
      if (typeof text === 'string' && text.startsWith(PIPELINED)) {
        // An error aborts the transaction, so its next statement reports it.
        (query(text, ...rest) as Promise<unknown>).catch(() => {});
        return Promise.resolve(NO_RESULT);
      }
      const name = typeof text === 'string' ? MARK.exec(text)?.[1] : undefined;
      return name === undefined
        ? query(text, ...rest)
        : query({ name, text, values: rest[0] }, ...rest.slice(1));
    }) as typeof this.query;
  }
}
