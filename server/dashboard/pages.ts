/**
 * The first path segments of the dashboard's pages. The server answers them with the page; every other unknown
 * path is a 404 in JSON.
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
  'requests',
  'files',
  'sandbox',
  'team',
  'audit',
  'account',
] as const;
