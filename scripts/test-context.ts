import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks';

/**
 * node:test finds the test to which a call or an error belongs by an async hook, which runs at the start and the end of
 * every promise. It is loaded here with an AsyncLocalStorage in place of that hook, which costs nothing per promise.
 */
const { createHook, executionAsyncId } = asyncHooks;
const current = new AsyncLocalStorage<number>();
let register: HookCallbacks['init'];

/** A test, suite or hook of node:test, or its reporter. */
class TestResource extends AsyncResource {
  constructor(...args: ConstructorParameters<typeof AsyncResource>) {
    super(...args);
    register?.(this.asyncId(), args[0], this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    fn: (this: This, ...args: unknown[]) => Result,
    self: This,
    ...args: unknown[]
  ): Result {
    const run = () => current.run(this.asyncId(), () => fn.apply(self, args));
    return super.runInAsyncScope(run);
  }
}

Object.assign(asyncHooks, {
  AsyncResource: TestResource,
  executionAsyncId: () => current.getStore() ?? executionAsyncId(),
  createHook: ({ init }: HookCallbacks) => ({
    enable: () => {
      register = init;
    },
    disable: () => {
      register = undefined;
    },
  }),
});
export const { after, describe, mock } = await import('node:test');
Object.assign(asyncHooks, { AsyncResource, executionAsyncId, createHook });
