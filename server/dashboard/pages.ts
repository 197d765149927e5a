/** The first path segments of the dashboard's pages. A browser gets the page with 404 at any other unknown path. */
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
  'organization',
  'team',
  'audit',
  'alerts',
  'account',
] as const;
