/** Runs `work` one run at a time. Calls during a run share one further run and its result. */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  let again = false;

  async function run(): Promise<Result> {
    try {
      for (;;) {
        again = false;
        const result = await work();
        if (!again) return result;
      }
    } finally {
      running = undefined;
    }
  }

  return () => {
    again = true;
    running ??= run();
    return running;
  };
}
