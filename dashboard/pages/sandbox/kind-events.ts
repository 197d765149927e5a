import { EVENT_TYPES } from '../../../server/webhooks/events/catalogue.ts';
import type { Kind } from './object-kinds.ts';

/** The name of the object type in events. */
export function typeOf({ label }: Kind): string {
  return label.toLowerCase().replaceAll(' ', '_');
}

export function hasEvents(kind: Kind): boolean {
  return EVENT_TYPES.some((type) => type.startsWith(`${typeOf(kind)}.`));
}
