import pg from 'pg';

/**
 * A statement that begins with `/* prepared: name *\/` is parsed and planned once per connection. For small batches on
 * partitioned tables planning costs several times the execution. Its text must never vary.
 */
const MARK = /^\s*\/\* prepared: (\w+) \*\//;

type Query = (text: unknown, ...rest: unknown[]) => unknown;

export class PreparingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = super.query.bind(this) as Query;
    this.query = ((text: unknown, ...rest: unknown[]) => {
      const name = typeof text === 'string' ? MARK.exec(text)?.[1] : undefined;
      return name === undefined
        ? query(text, ...rest)
        : query({ name, text, values: rest[0] }, ...rest.slice(1));
    }) as typeof this.query;
  }
}
