import type { App } from '../../server/app.ts';

/** Runs work that is due at once; in production, timers and notifications start it. */
type Drain = { drain(): Promise<void> };

export type DrainableApp = App & { dispatcher: Drain; fileProcessing: Drain; simulator: Drain };

export function drainable(app: App): DrainableApp {
  const { dispatcher, fileProcessing, simulator } = app;
  return {
    ...app,
    dispatcher: { ...dispatcher, drain: () => drainDispatcher(dispatcher) },
    fileProcessing: { ...fileProcessing, drain: () => drainFiles(fileProcessing) },
    simulator: {
      ...simulator,
      async drain() {
        while ((await simulator.step()) > 0);
      },
    },
  };
}

/** Sends every delivery that is due and records the outcomes. */
async function drainDispatcher({ poll, idle, figures }: App['dispatcher']): Promise<void> {
  for (let more = true; more; ) {
    const found = await poll();
    const before = figures();
    await idle();
    const after = figures();
    // A recorded outcome may have activated an endpoint, whose waiting deliveries the next poll finds.
    more = found || before.held !== after.held || before.inFlight + after.inFlight > 0;
  }
}

/** Handles every file that is due, with all its steps. */
async function drainFiles({ claim, idle }: App['fileProcessing']): Promise<void> {
  for (let claimed = 1; claimed > 0; ) {
    claimed = await claim();
    await idle();
  }
}
