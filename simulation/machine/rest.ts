import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { accessFilesInThisThread } from './files.ts';
import type { Random } from './random.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { verifyInThisThread } from './signatures.ts';

/**
 * Makes the process itself deterministic: timers of every library are virtual, random numbers come from the seed, and
 * `rest` knows exactly whether code can still run. Only the process of a simulation installs this.
 */
const realSetImmediate = globalThis.setImmediate;
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;

/** Undefined if the promise takes longer, in real time. */
export function settledWithin<Result>(ms: number, promise: Promise<Result>): Promise<Result | undefined> {
  return new Promise((resolve) => {
    const timer = realSetTimeout(resolve, ms, undefined);
    void promise.then((result) => {
      realClearTimeout(timer);
      resolve(result);
    });
  });
}

/** Work in the thread pool, which would end at a time that the seed does not decide. `signatures.ts` knows other work. */
const POOL_WORK = /^(FSREQ|FILEHANDLECLOSEREQ|GETADDRINFOREQ|GETNAMEINFOREQ|QUERYWRAP|ZLIB)/;

let immediates = 0;
let poolWork: string | undefined;
/** Of the seed that runs. */
let scheduler: Scheduler | undefined;
let random: Random | undefined;
const context = new AsyncLocalStorage<Owner>();

/** Runs code of a node, so that its timers belong to it. */
export function enter<Result>(owner: Owner, work: () => Result): Result {
  return context.run(owner, work);
}

/** Microtasks have ended when an immediate runs; immediates are counted, and no node may use the thread pool. */
export async function rest(): Promise<void> {
  do await new Promise((resolve) => void realSetImmediate(resolve));
  while (immediates > 0);
  const found = poolWork;
  poolWork = undefined;
  if (found !== undefined) throw new Error(`a node uses the thread pool: ${found}`);
}

/** The simulation itself may wait for the pool: in the login of its own sessions. */
function notePoolWork(what: string): void {
  if (context.getStore()) poolWork = what;
}

/** Between two seeds, random numbers are those of the operating system. */
export function applySeed(seed: { scheduler: Scheduler; random: Random } | undefined): void {
  scheduler = seed?.scheduler;
  random = seed?.random;
}

type Handle = { cancel(): void; ref(): Handle; unref(): Handle; hasRef(): boolean; refresh(): Handle };

function setVirtual(ms: number, action: () => void, repeats: boolean): Handle {
  const owner = context.getStore();
  let cancel = () => {};
  const arm = () => {
    cancel =
      scheduler?.add(Math.max(1, ms || 0), {
        ...{ kind: 'timer', owner, label: `timer of ${ms} ms` },
        run() {
          if (repeats) arm();
          if (owner) enter(owner, action);
          else action();
        },
      }) ?? (() => {});
  };
  arm();
  const handle: Handle = {
    cancel: () => cancel(),
    ref: () => handle,
    unref: () => handle,
    hasRef: () => false,
    refresh() {
      cancel();
      arm();
      return handle;
    },
  };
  return Object.assign(handle, { [Symbol.dispose]: () => cancel() });
}

type Callback = (...args: unknown[]) => void;

export function install(): void {
  createHook({
    trackPromises: false,
    init(_, type) {
      if (POOL_WORK.test(type)) notePoolWork(type);
    },
  }).enable();
  const setTimeout = (action: Callback, ms = 1, ...args: unknown[]) =>
    setVirtual(ms, () => action(...args), false);
  const setInterval = (action: Callback, ms = 1, ...args: unknown[]) =>
    setVirtual(ms, () => action(...args), true);
  const clear = (handle: Handle | undefined) => handle?.cancel?.();
  const setImmediate = (action: Callback, ...args: unknown[]) => {
    immediates += 1;
    let isOpen = true;
    const close = () => {
      if (isOpen) immediates -= 1;
      isOpen = false;
    };
    const immediate = realSetImmediate(() => {
      close();
      action(...args);
    });
    const cancel = () => {
      close();
      clearReal(immediate);
    };
    return Object.assign(immediate, { cancel });
  };
  const clearReal = globalThis.clearImmediate;
  const replaced = {
    ...{ setTimeout, setInterval, setImmediate },
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
  };
  Object.assign(globalThis, replaced);
  Object.assign(timers, replaced);
  Object.assign(timersPromises, {
    setTimeout: (ms = 1, value?: unknown) =>
      new Promise((resolve) => void setVirtual(ms, () => resolve(value), false)),
    setImmediate: (value?: unknown) => new Promise((resolve) => void setImmediate(() => resolve(value))),
  });
  seedRandomNumbers();
  verifyInThisThread(notePoolWork);
  accessFilesInThisThread();
  syncBuiltinESMExports();
}

/** Keys of signatures and signatures themselves stay random: nothing but their owner reads them. */
function seedRandomNumbers(): void {
  const real = { randomBytes: crypto.randomBytes, random: Math.random };
  const bytesOf = (size: number) => random?.bytes(size) ?? real.randomBytes(size);
  const between = (min: number, max: number) => min + Math.floor(Math.random() * (max - min));
  const fill = <Target extends NodeJS.ArrayBufferView>(target: Target): Target => {
    Buffer.from(target.buffer, target.byteOffset, target.byteLength).set(bytesOf(target.byteLength));
    return target;
  };
  const randomUUID = () => {
    const bytes = bytesOf(16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
  };
  Math.random = () => random?.next() ?? real.random();
  Object.assign(crypto, {
    ...{ randomBytes: bytesOf, randomUUID, randomFillSync: fill },
    randomInt: (min: number, max?: number) => (max === undefined ? between(0, min) : between(min, max)),
  });
  for (const [name, value] of Object.entries({ getRandomValues: fill, randomUUID }))
    Object.defineProperty(Object.getPrototypeOf(crypto.webcrypto), name, { value });
}
