import type { EventType } from './catalogue.ts';

/** Events that do not announce a new state of their object, or mean more than that. */
const OWN_DESCRIPTIONS: Partial<Record<EventType, string>> = {
  'account.balance_funding_pull.low':
    'The balance of a reserve account fell below its `low_balance`: it approaches the minimum.',
  'account.balance_funding_pull.below_minimum':
    'The balance of a reserve account fell below its `minimum_balance`.',
  'bank.created': 'A bank was created.',
  'bank.updated': 'A bank was changed.',
  'subscription.storing':
    'A subscription was created. This is the first event that its endpoint receives: a 2xx response activates the subscription.',
  'subscription.failed': 'A subscription failed for seven days. It receives no more events.',
  'subscription.deleting':
    'The deletion of a subscription was requested. It receives events for another 24 hours.',
  'subscription.deleted': 'A subscription was deleted. It receives no more events.',
};

export function objectOf(type: EventType): string {
  return type.slice(0, type.indexOf('.'));
}

export function descriptionOf(type: EventType): string {
  const object = objectOf(type);
  const state = type.slice(object.length + 1);
  const name = `${/^[aeiou]/.test(object) ? 'An' : 'A'} ${object.replaceAll('_', ' ')}`;
  const change = state === 'storing' ? `${name} was created.` : `${name} reached the state \`${state}\`.`;
  const fetch = `\`GET /api/${object}s/{object_guid}\` returns it as it is now.`;
  return type === 'subscription.deleted'
    ? (OWN_DESCRIPTIONS[type] ?? change)
    : `${OWN_DESCRIPTIONS[type] ?? change} ${fetch}`;
}
