/**
 * Group commit: calls that arrive while a run is in progress are batched into the next one. A single caller does not
 * wait; a thousand callers cost a handful of runs.
 */
export type Batcher<Input, Output> = (input: Input) => Promise<Output>;

/** Further calls fail at once instead of timing out. */
const MAX_WAITING = 20_000;

/** Nothing was changed, so the call can be repeated. */
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
}: {
  /** Returns one output per input, in the same order. */
  run(inputs: readonly Input[]): Promise<readonly Output[]>;
  /** Maximum weight of the inputs of one run; a heavier input runs alone. */
  maxBatch: number;
  weigh?(input: Input): number;
}): Batcher<Input, Output> {
  let waiting: Waiting<Input, Output>[] = [];
  let isRunning = false;

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
        if (outputs.length !== batch.length) throw new Error('a batch run must return one output per input');
        batch.forEach((entry, index) => {
          entry.resolve(outputs[index] as Output);
        });
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
    }
    isRunning = false;
  }

  return (input) =>
    new Promise<Output>((resolve, reject) => {
      if (waiting.length >= MAX_WAITING)
        return reject(new Overloaded('too many calls are waiting for the database'));
      waiting.push({ input, resolve, reject });
      // Waits one turn of the event loop, so that concurrent calls share the first run.
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void drain());
    });
}
