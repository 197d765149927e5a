import pg from 'pg';

/**
 * How a statement is sent, as a comment at its beginning:
 *
 * - `prepared: name`: parsed and planned once per connection. For small batches on partitioned tables planning costs
 *   several times the execution. Its text must never vary, and it names its columns: after a migration that adds one,
 *   PostgreSQL rejects a prepared `select *`.
 * - `pipelined`: without waiting for its answer, which costs no round trip; its rows are not read. An error is
 *   reported by the next statement that waits, at the latest by the commit.
 */
const MARK = /^\s*\/\* (?:prepared: (\w+))?(?:, )?(pipelined)? \*\//;
/** Fails only with its connection, so it is pipelined, too. */
const BEGIN = 'begin';

const NO_RESULT = { command: 'SELECT', rowCount: 0, rows: [] };

type Query = (text: unknown, ...rest: unknown[]) => unknown;

export class PreparingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = super.query.bind(this) as Query;
    let unanswered: Promise<unknown>[] = [];

    this.query = ((text: unknown, ...rest: unknown[]) => {
      if (typeof text !== 'string') return query(text, ...rest);
      const [, name, pipelined] = MARK.exec(text) ?? [];
      const isPipelined = pipelined !== undefined || text === BEGIN;
      if (isPipelined) this.#writeLater();
      const answer =
        name === undefined ? query(text, ...rest) : query({ name, text, values: rest[0] }, ...rest.slice(1));
      if (isPipelined) {
        const waiting = answer as Promise<unknown>;
        waiting.catch(() => {});
        unanswered.push(waiting);
        return Promise.resolve(NO_RESULT);
      }
      if (unanswered.length === 0) return answer;
      // Rejects with the first error: those after it only say that the transaction is aborted.
      const all = Promise.all([...unanswered, answer]);
      unanswered = [];
      return all.then((answers) => answers.at(-1));
    }) as typeof this.query;
  }

  /** One system call writes the statement together with those that follow it in the same tick. */
  #writeLater(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}
