import { createInboxReceiving } from './receiving.ts';
import { createInboxes } from './service.ts';

export type InboxesModule = ReturnType<typeof createInboxesModule>;

type Deps = Parameters<typeof createInboxes>[0] & Parameters<typeof createInboxReceiving>[0];

export function createInboxesModule(deps: Deps) {
  return { inboxes: createInboxes(deps), inboxReceiving: createInboxReceiving(deps) };
}
