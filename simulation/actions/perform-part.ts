import type { PartAction } from '../agenda/part-actions.ts';
import type { Node } from '../world/node.ts';
import type { World } from '../world/world.ts';
import { burst } from './bursts.ts';
import type { Calls } from './calls.ts';
import { moveEndpoint, redeliverWindow } from './changes.ts';
import { withdrawFeature } from './features.ts';
import { createFileCalls } from './files.ts';
import { endMembership } from './members.ts';
import { createObjectCalls } from './objects.ts';
import type { createPartners } from './partners.ts';

/** Puts the entries of the parts beside webhooks into effect. */
export function createParts(world: World, calls: Calls, partners: ReturnType<typeof createPartners>) {
  const { model } = world;
  const objects = createObjectCalls(world, calls);
  const files = createFileCalls(world, calls, objects);

  return async (action: PartAction): Promise<void> => {
    switch (action.kind) {
      case 'object':
        return objects.create(action.type, action);
      case 'file':
        return files.create(action.plan, action);
      case 'disk':
        model.count('disk');
        return world.disk.fail(action.ms);
      case 'clock':
        return setClock(world, action);
      case 'move': {
        const subscription = partners.picked(action.pick);
        return subscription && moveEndpoint(world, calls, subscription, action.node);
      }
      case 'window': {
        const subscription = partners.picked(action.pick);
        return (
          subscription && redeliverWindow(world, calls, subscription, { ...action, kind: action.window })
        );
      }
      case 'burst': {
        const unhealthy = partners.picked(action.pick);
        return unhealthy && burst(world, calls, partners, unhealthy, action);
      }
      case 'member':
        return endMembership(world, calls, objects.sandboxAt(action.tenant), action);
      case 'feature':
        return withdrawFeature(world, calls, objects.sandboxAt(action.tenant), action);
    }
  };
}

/** Until it is set right. */
function setClock(
  { scheduler, model, nodes }: World,
  { node: index, ms, forMs }: Extract<PartAction, { kind: 'clock' }>,
): void {
  const node = nodes[index % nodes.length] as Node;
  const owner = node.owner();
  if (!owner) return;
  const before = node.skew();
  model.setClockWrong(owner.name, scheduler.now(), { ms, forMs });
  node.setSkew(before + ms);
  scheduler.add(forMs, {
    ...{ kind: 'fixed', owner: undefined, label: `the clock of ${node.name} is set right` },
    run: () => node.setSkew(before),
  });
}
