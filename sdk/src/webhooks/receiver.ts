import { type WebhookCheck, WebhookVerificationError } from './error.ts';
import type { EventType, WebhookEvent } from './event.ts';
import type { WebhookHeaders } from './headers.ts';
import { createMemorySeenStore, type SeenStore } from './seen.ts';
import { type VerifyOptions, verifyWebhook } from './verify.ts';

type Handler<Type extends EventType> = (event: WebhookEvent<Type>) => unknown;

/** Functions by event type; `'*'` gets the events that have no function of their own. */
export type Handlers = { readonly [Type in EventType]?: Handler<Type> } & {
  readonly '*'?: Handler<EventType>;
};

export type ReceiverOptions = VerifyOptions & {
  /** Signing keys of the subscriptions; a function where they change while the process runs. */
  keys: string | readonly string[] | (() => string | readonly string[] | Promise<string | readonly string[]>);
  on: Handlers;
  /** Default: `createMemorySeenStore()`, for one process. */
  seen?: SeenStore;
  /**
   * Errors of handlers, after the answer, and of the store; a body that was parsed, and missing keys. Default: writes them to the console. A handler that failed
   * runs again only when the event is redelivered, or by a durable store.
   */
  onError?: (error: unknown, event: WebhookEvent | undefined) => unknown;
};

/** The answer to a request, and the work to do after it was sent. */
export type Receipt = { status: number; body: string; work?: () => Promise<void> };

export type Receiver = {
  /**
   * Verifies and deduplicates a request. Send the answer first, then call `work`, even if the sender has left: a repeat
   * is a duplicate. It never rejects.
   */
  receive(body: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders): Promise<Receipt>;
  /** Runs the handler of an event that a durable store has kept, for example after a crash. It never rejects. */
  process(event: WebhookEvent): Promise<void>;
};

const OWN_MISTAKES: readonly WebhookCheck[] = ['body_not_raw', 'signing_key_missing'];

/** Receives webhooks: verifies and deduplicates them, answers, and then runs the handler of the event type. */
export function createReceiver({
  keys,
  on,
  seen = createMemorySeenStore(),
  onError = reportError,
  ...verifyOptions
}: ReceiverOptions): Receiver {
  async function verify(body: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders) {
    return verifyWebhook(body, headers, typeof keys === 'function' ? await keys() : keys, verifyOptions);
  }

  function handlerOf(event: WebhookEvent) {
    return (on[event.event_type] ?? on['*']) as Handler<EventType> | undefined;
  }

  async function report(error: unknown, event: WebhookEvent | undefined): Promise<void> {
    try {
      await onError(error, event);
    } catch (failure) {
      reportError(failure, event);
    }
  }

  async function attempt(event: WebhookEvent, action: () => unknown): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      await report(error, event);
      return false;
    }
  }

  async function process(event: WebhookEvent): Promise<void> {
    const succeeded = await attempt(event, () => handlerOf(event)?.(event));
    await attempt(event, () => (succeeded ? seen.done?.(event.guid) : seen.remove(event.guid)));
  }

  return {
    process,
    async receive(body, headers) {
      let event: WebhookEvent | undefined;
      try {
        event = await verify(body, headers);
        if (!handlerOf(event)) return answer(200, { ignored: event.event_type });
        const { guid } = event;
        if (!(await seen.add(guid, event))) return answer(200, { duplicate: guid });
        return { ...answer(200, { received: guid }), work: process.bind(undefined, event) };
      } catch (error) {
        if (error instanceof WebhookVerificationError) {
          // A mistake in this program, which every sender would meet.
          if (OWN_MISTAKES.includes(error.check)) await report(error, undefined);
          return answer(401, { error: error.check, message: error.message });
        }
        // Not 2xx, so that Portico sends the event again.
        await report(error, event);
        return answer(500, { error: 'internal_error' });
      }
    },
  };
}

function answer(status: number, body: object): Receipt {
  return { status, body: JSON.stringify(body) };
}

function reportError(error: unknown, event: WebhookEvent | undefined): void {
  const name = event ? `Webhook ${event.guid} (${event.event_type})` : 'A webhook';
  // biome-ignore lint/suspicious/noConsole: without `onError` an error must not be lost.
  console.error(`${name} failed:`, error);
}
