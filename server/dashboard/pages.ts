/**
 * The first segment of every address that is a page of the dashboard. The server answers these with the page, and
 * the dashboard's router has no others: an address that is not listed here is 404 in JSON, like any other.
 */
export const PAGES = [
  'login',
  'forgot-password',
  'set-password',
  'onboarding',
  'overview',
  'keys',
  'subscriptions',
  'events',
  'live',
  'files',
  'sandbox',
  'team',
  'audit',
  'account',
] as const;
