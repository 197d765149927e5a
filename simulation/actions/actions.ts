import { type Action, describe, type Entry } from '../agenda/agenda.ts';
import { BEHAVIOURS } from '../agenda/behaviours.ts';
import type { Owner } from '../machine/scheduler.ts';
import type { Node } from '../world/node.ts';
import type { World } from '../world/world.ts';
import type { createPartners } from './partners.ts';
import type { createParts } from './perform-part.ts';

/** Puts the entries of an agenda into effect. */
export function createActions(
  world: World,
  partners: ReturnType<typeof createPartners>,
  performPart: ReturnType<typeof createParts>,
) {
  const { scheduler, nodes, model, database, endpoints, trace, startAt } = world;

  const nodeAt = (index: number) => nodes[index % nodes.length] as Node;
  const later = (ms: number, label: string, run: () => void | Promise<void>) =>
    scheduler.add(ms, { kind: 'fixed', owner: undefined, label, run });

  /** A fault of the connection to the database, for a while. */
  async function disturbLink(
    node: Node,
    what: 'silence' | 'refuse' | 'slow',
    { ms, extraMs = Math.min(1_500, ms / 8) }: { ms: number; extraMs?: number },
  ): Promise<void> {
    const [owner, link] = [node.owner(), node.link()];
    if (!owner || !link) return;
    model.recordFault(owner.name, scheduler.now(), ms, what);
    if (what === 'slow') link.extraMs = extraMs;
    if (what === 'refuse') link.isRefusing = true;
    if (what === 'silence') link.isSilent = true;
    later(ms, `${owner.name} ${what} ends`, () => {
      link.isRefusing = false;
      link.isSilent = false;
      link.extraMs = 0;
    });
    if (what === 'refuse') await database.cutAll(owner);
    if (what === 'silence') database.silenceAll(owner);
  }

  const withOwner = (node: Node, run: (owner: Owner) => void | Promise<void>) => {
    const owner = node.owner();
    return owner ? run(owner) : undefined;
  };

  async function perform(action: Action): Promise<void> {
    const now = scheduler.now();
    switch (action.kind) {
      case 'events':
        return world.run(() => partners.postEvents(action.tenant, action.count, action.node));
      case 'subscribe':
        return world.run(() => partners.subscribe(action.tenant, action.node, action.plan));
      case 'key':
        return world.run(() => partners.replaceKey(action.tenant, action.node, action.isSudden ?? false));
      case 'delete':
        return world.run(() => partners.remove(partners.picked(action.pick), action.node));
      case 'redeliver':
        return world.run(() => partners.redeliver(action.pick, action.node));
      case 'redeliver-foreign':
        return world.run(() => partners.redeliverForeignEvent(action.pick, action.node));
      case 'disable':
      case 'enable':
      case 'protect':
      case 'pause':
      case 'resume':
        return world.run(() => partners.change(action.pick, action.node, action.kind));
      case 'endpoint': {
        const subscription = partners.picked(action.pick);
        if (!subscription) return;
        endpoints.behave(subscription.url, now, BEHAVIOURS[action.plan]());
        if (action.plan !== 'healthy')
          later(action.ms, `${subscription.url} recovers`, () =>
            endpoints.behave(subscription.url, scheduler.now(), BEHAVIOURS.healthy()),
          );
        return model.count(`endpoint ${action.plan}`);
      }
      case 'kill':
        return withOwner(nodeAt(action.node), async (owner) => {
          model.recordFault(owner.name, now, Number.POSITIVE_INFINITY, 'kill');
          await nodeAt(action.node).kill();
          nodeAt(action.node).restartLater(action.awayMs);
        });
      case 'freeze':
        return withOwner(nodeAt(action.node), (owner) => {
          model.recordFault(owner.name, now, action.ms, 'freeze');
          owner.frozenUntil = Math.max(owner.frozenUntil, now + action.ms);
        });
      case 'cut':
        return withOwner(nodeAt(action.node), async (owner) => {
          model.recordFault(owner.name, now, 0, 'cut');
          await database.cutAll(owner);
        });
      case 'commit':
        return withOwner(nodeAt(action.node), (owner) => {
          const { isExecuted, statement } = action;
          const what = isExecuted ? 'answer lost' : 'statement lost';
          const matches = new RegExp(statement, 'i');
          nodeAt(action.node)
            .link()
            ?.cuts.push({
              matches,
              isExecuted,
              onCut: () => model.recordFault(owner.name, scheduler.now(), 0, what),
            });
        });
      case 'silence':
      case 'refuse':
      case 'slow':
        return disturbLink(nodeAt(action.node), action.kind, action);
      case 'outage':
        for (const node of nodes) await disturbLink(node, 'refuse', action);
        return;
      case 'skew':
        model.count('skew');
        return nodeAt(action.node).setSkew(action.ms);
      default:
        return world.run(() => performPart(action));
    }
  }

  return {
    schedule(entries: readonly Entry[]): void {
      for (const { at, action } of entries)
        scheduler.add(startAt + at - scheduler.now(), {
          ...{ kind: 'fixed', owner: undefined, label: undefined },
          async run() {
            trace.add(scheduler.now(), 'agenda', describe(action));
            await perform(action);
          },
        });
    },
    /** Ends every fault, so that everything can come to its end. */
    async heal(): Promise<void> {
      world.disk.heal();
      for (const node of nodes) {
        const link = node.link();
        if (link) Object.assign(link, { isRefusing: false, isSilent: false, extraMs: 0, cuts: [] });
        if (!node.isStarted()) node.start();
        await scheduler.rest();
      }
    },
  };
}
