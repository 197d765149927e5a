import type { Organizations } from '../credentials/organizations/service.ts';
import type { Base } from '../infrastructure/base.ts';
import type { Notifications } from '../infrastructure/database/connections/notifications.ts';
import type { Timers } from '../infrastructure/runtime/clock.ts';
import type { Events } from '../webhooks/events/service.ts';
import { createFeed } from './feed.ts';
import { createPrices } from './market/prices.ts';
import { createObjects, type ReferencedFiles } from './service.ts';
import { createSimulator } from './simulator.ts';

export type ObjectsModule = ReturnType<typeof createObjectsModule>;

type Deps = Base & {
  timers: Timers;
  notifications: Notifications;
  events: Events;
  organizations: Organizations;
  files: ReferencedFiles;
  /** How long a simulated object stays in each state. */
  delayMs: number;
};

/** Customers to workflows: as partners use them, as the core reports them, and their simulation in sandbox. */
export function createObjectsModule(deps: Deps) {
  const { database, clock, audit, log, timers, notifications, events, organizations, files, delayMs } = deps;
  const simulator = createSimulator({ database, clock, timers, log, notifications, events, delayMs });
  return {
    simulator,
    objects: createObjects({ ...deps, simulator }),
    feed: createFeed({ database, clock, audit, events, organizations, files }),
    prices: createPrices({ database, clock }),
  };
}
