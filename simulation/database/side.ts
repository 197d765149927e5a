import pg from 'pg';
import { checksum } from '../machine/trace.ts';

type Query = (query: unknown, values?: unknown) => unknown;

/**
 * A superuser's connection to the database of a seed, outside of the simulation. The same questions are asked hundreds
 * of times, and planning them costs more than answering them.
 */
export class Side extends pg.Client {
  constructor(url: string) {
    super({ connectionString: url });
    const query = super.query.bind(this) as Query;
    this.query = ((text: unknown, values?: unknown) =>
      typeof text === 'string' && /^\s*(select|with)\b/i.test(text)
        ? query({ name: checksum(text), text, values })
        : query(text, values)) as typeof this.query;
  }
}
