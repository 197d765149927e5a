/** Runs `work` one run at a time. Calls during a run share one further run. */
export function coalesce(work: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;

  async function run(): Promise<void> {
    try {
      while (again) {
        again = false;
        await work();
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
