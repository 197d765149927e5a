/**
 * Group commit: while one run is on its way, the calls that arrive wait and go together in the next one.
 * One caller alone waits for nothing; a thousand callers cost a handful of runs.
 */
export type Batcher<Input, Output> = (input: Input) => Promise<Output>;

/** Whoever comes after this many is refused at once: better than waiting for an answer that comes too late. */
const MAX_WAITING = 20_000;

type Waiting<Input, Output> = {
  input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
};

export function createBatcher<Input, Output>({
  run,
  maxBatch,
}: {
  /** Gives one output for each input, in the same order. */
  run(inputs: readonly Input[]): Promise<readonly Output[]>;
  maxBatch: number;
}): Batcher<Input, Output> {
  let waiting: Waiting<Input, Output>[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      try {
        const outputs = await run(batch.map((entry) => entry.input));
        if (outputs.length !== batch.length) throw new Error('a batch run must answer every input');
        batch.forEach((entry, index) => {
          entry.resolve(outputs[index] as Output);
        });
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
    }
    running = false;
  }

  return (input) =>
    new Promise<Output>((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) return reject(new Error('too many calls wait for the database'));
      waiting.push({ input, resolve, reject });
      // One turn of the event loop first, so that calls of the same moment share the first run too.
      if (!running) {
        running = true;
        setImmediate(() => void drain());
      }
    });
}
