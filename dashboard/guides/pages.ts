/** The pages of `docs/partners/` in the order of the menu. They are served at `/guides/<name>`. */
export const GUIDE_GROUPS = [
  { title: 'Start', pages: ['quickstart', 'sandbox-scenarios', 'going-live'] },
  { title: 'Keys and tokens', pages: ['authentication', 'rolling-keys'] },
  { title: 'Webhooks', pages: ['webhooks', 'alerts'] },
  { title: 'Tools', pages: ['sdk', 'cli'] },
  { title: 'Objects', pages: ['objects', 'trading', 'files', 'changes', 'lists'] },
  { title: 'Requests', pages: ['errors', 'repeated-requests', 'request-log'] },
] as const;

export type GuideName = (typeof GUIDE_GROUPS)[number]['pages'][number];
