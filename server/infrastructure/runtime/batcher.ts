/**
 * Group commit: while one run is on its way, the calls that arrive wait and go together in the next one.
 * One caller alone waits for nothing; a thousand callers cost a handful of runs.
 */
export type Batcher<Input, Output> = (input: Input) => Promise<Output>;

/** Whoever comes after this many is refused at once: better than waiting for an answer that comes too late. */
const MAX_WAITING = 20_000;

/** Nothing was done: the same call may be made again in a moment. */
export class Overloaded extends Error {}

type Waiting<Input, Output> = {
  input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
};

export function createBatcher<Input, Output>({
  run,
  maxBatch,
  weigh = () => 1,
  maxRuns = 1,
}: {
  /** Gives one output for each input, in the same order. */
  run(inputs: readonly Input[]): Promise<readonly Output[]>;
  /** What the inputs of one run weigh together; one that is heavier goes alone. */
  maxBatch: number;
  weigh?(input: Input): number;
  /** Runs under way at once. */
  maxRuns?: number;
}): Batcher<Input, Output> {
  let waiting: Waiting<Input, Output>[] = [];
  let running = 0;

  function takeBatch(): Waiting<Input, Output>[] {
    let weight = 0;
    const over = waiting.findIndex(({ input }, index) => {
      weight += weigh(input);
      return index > 0 && weight > maxBatch;
    });
    const batch = over === -1 ? waiting : waiting.slice(0, over);
    waiting = over === -1 ? [] : waiting.slice(over);
    return batch;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch();
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
    running -= 1;
  }

  return (input) =>
    new Promise<Output>((resolve, reject) => {
      if (waiting.length >= MAX_WAITING)
        return reject(new Overloaded('too many calls wait for the database'));
      waiting.push({ input, resolve, reject });
      // One turn of the event loop first, so that calls of the same moment share the first run too.
      if (running < maxRuns) {
        running += 1;
        setImmediate(() => void drain());
      }
    });
}
