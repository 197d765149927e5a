import type { EventType } from '../generated/events.ts';

export type { EventType };

/** The body of a webhook: which object changed and how. Fetch the object for its current state. */
export type WebhookEvent<Type extends EventType = EventType> = Type extends EventType
  ? {
      /** The event, the same for every attempt and subscription: deduplicate by it. */
      guid: string;
      /** The Organization; one endpoint may serve several. */
      organization_guid: string;
      /** The bank of the object; absent when there is none, as for `subscription.*`. */
      bank_guid?: string;
      event_type: Type;
      object_guid: string;
      environment: 'production' | 'sandbox';
    }
  : never;

const REQUIRED = ['guid', 'organization_guid', 'event_type', 'object_guid', 'environment'] as const;

/** Undefined if the text is not an event. A type that this version does not know is an event, too. */
export function parseEvent(text: string): WebhookEvent | undefined {
  try {
    const event = JSON.parse(text);
    return REQUIRED.every((field) => typeof event?.[field] === 'string') ? event : undefined;
  } catch {
    return undefined;
  }
}
