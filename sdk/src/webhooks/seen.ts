import type { WebhookEvent } from './event.ts';

/** Remembers which events were received, so that a repeated delivery is processed once. */
export type SeenStore = {
  /**
   * Records an event, and returns false if it was recorded before. It has to be atomic, because deliveries of one event
   * can arrive at the same time: `INSERT … ON CONFLICT DO NOTHING` is, a `SELECT` before an `INSERT` is not.
   */
  add(guid: string, event: WebhookEvent): boolean | Promise<boolean>;
  /** Forgets an event whose handler failed, so that a redelivery is processed; a durable store can keep it instead. */
  remove(guid: string): unknown;
  /** The handler succeeded. A durable store processes the others again, also after a crash. */
  done?(guid: string): unknown;
};

const DEFAULT_MAX_EVENTS = 10_000;

/** For one process: it forgets all events at a restart, and the oldest ones beyond `maxEvents`. */
export function createMemorySeenStore({ maxEvents = DEFAULT_MAX_EVENTS } = {}): SeenStore {
  const guids = new Set<string>();
  return {
    add(guid) {
      if (guids.has(guid)) return false;
      guids.add(guid);
      for (const oldest of guids) {
        if (guids.size <= maxEvents) break;
        guids.delete(oldest);
      }
      return true;
    },
    remove: (guid) => guids.delete(guid),
  };
}
