import type { Bank, Environment, Found } from '../../api/types.ts';
import type { Search } from '../filters/search.ts';
import type { IconName } from '../text/Icon.tsx';

export type Destination = { to: string; search: Search };

export const FOUND_LABELS: Record<Found['type'], { label: string; icon: IconName }> = {
  event: { label: 'Event', icon: 'events' },
  delivery: { label: 'Delivery', icon: 'send' },
  subscription: { label: 'Subscription', icon: 'webhook' },
  file: { label: 'File', icon: 'file' },
  object: { label: 'Object', icon: 'sandbox' },
  bank: { label: 'Bank', icon: 'bank' },
  application: { label: 'API key', icon: 'key' },
  member: { label: 'Member', icon: 'team' },
  request: { label: 'Request', icon: 'requests' },
};

/** The page of what was found. */
export function destinationOf(found: Found): Destination {
  const { type, guid } = found;
  switch (type) {
    case 'event':
      return { to: `/events/${guid}`, search: {} };
    case 'delivery':
      return { to: `/deliveries/${guid}`, search: {} };
    case 'subscription':
      return { to: `/subscriptions/${guid}`, search: {} };
    case 'file':
      return { to: '/files', search: { guid } };
    case 'object':
      return { to: `/sandbox/${found.object_type}/${guid}`, search: {} };
    case 'bank':
      return { to: '/overview', search: {} };
    case 'application':
      return {
        to: '/keys',
        search: { client_id: guid, ...(found.bank_guid === undefined ? { kind: 'organization' } : {}) },
      };
    case 'member':
      return { to: '/team', search: { guid } };
    case 'request':
      return { to: '/requests', search: { request_id: guid } };
  }
}

/** The bank to select: that of the object, or any of its environment. Undefined if the present one can stay. */
export function bankFor(
  { bank_guid: guid, environment }: Found,
  banks: readonly Bank[],
  present: Environment,
): string | undefined {
  const own = banks.find((bank) => bank.guid === guid);
  if (own) return own.guid;
  if (environment === undefined || environment === present) return undefined;
  return banks.find((bank) => bank.environment === environment)?.guid;
}

/** Whether the text names something that the server can find. */
export function isIdentifier(text: string): boolean {
  return (
    /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/i.test(text) ||
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ||
    /^https?:\/\/\S+$/i.test(text)
  );
}

/** Path and query of a link to this dashboard. */
export function pageOfLink(text: string, origin: string): Destination | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin !== origin || url.pathname.startsWith('/api/') || url.pathname.startsWith('/oauth/'))
    return undefined;
  return { to: url.pathname, search: Object.fromEntries(url.searchParams) };
}
