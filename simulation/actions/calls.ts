import type { InjectOptions } from 'fastify';
import { scopesOfRole } from '../../server/tokens/roles.ts';
import type { Owner } from '../machine/scheduler.ts';
import type { CallResult, Node, Reply } from '../world/node.ts';
import { OPERATOR_TOKEN, type World } from '../world/world.ts';

const RETRY_AFTER_MS = 700;
/** After these, retries are a minute apart: all nodes may be down for hours. */
const QUICK_TRIES = 60;
const RETRY_LATER_MS = 60_000;
const MAX_TRIES = 900;
const LOOK_MS = 0.1;
const PARTNER: Owner = { name: 'partner', isDead: false, frozenUntil: 0 };

export type Calls = ReturnType<typeof createCalls>;

/** Calls to the nodes, by the operator unless they have a token. */
export function createCalls({ scheduler, nodes, trace, sleep }: World) {
  const nodeAt = (index: number): Node => nodes[index % nodes.length] as Node;

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      scheduler.add(ms, { owner: PARTNER, label: undefined, run: () => resolve() });
    });

  /** The next step waits for a query beside the simulation, which takes real time. */
  const look = <Result>(query: () => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      scheduler.add(LOOK_MS, {
        ...{ owner: PARTNER, label: undefined },
        run: () => query().then(resolve, reject),
      });
    });

  async function call(node: Node, options: InjectOptions, token = OPERATOR_TOKEN): Promise<CallResult> {
    const result = await node.call({
      ...options,
      headers: { host: 'localhost:4000', authorization: `Bearer ${token}`, ...options.headers },
    });
    const { method, url } = options;
    const status = result === 'lost' ? 'lost' : result.status;
    trace.add(scheduler.now(), 'partner', `${method} ${url} at ${node.name}: ${status}`);
    if (status === 500) throw new Error(`500 of ${method} ${url}`);
    return result;
  }

  return {
    nodeAt,
    pause,
    look,
    call,

    /** Repeats a call at one node after another until it is answered. */
    async callUntilAnswered(index: number, options: InjectOptions): Promise<Reply> {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const result = await call(nodeAt(index + tries), options);
        if (result !== 'lost' && result.status < 500) return result;
        await (tries < QUICK_TRIES ? pause(RETRY_AFTER_MS) : sleep(RETRY_LATER_MS));
      }
      throw new Error(`${options.method} ${String(options.url)} was not answered`);
    },

    /** As the dashboard does, with a user token of five minutes; undefined if the node is down. */
    async callAsFounder(
      node: Node,
      organizationGuid: string,
      options: InjectOptions,
    ): Promise<CallResult | undefined> {
      const proof = { provedAt: node.clock.now(), secondFactor: true };
      const user = { tokenType: 'user', subject: 'f'.repeat(32), organizationGuid, ...proof } as const;
      const token = await node.ask(({ issuer }) =>
        issuer.issue({ ...user, scopes: scopesOfRole('founder') }),
      );
      return token === 'lost' ? undefined : call(node, options, token.access_token);
    },
  };
}

export function isOk(result: CallResult | undefined): result is Reply {
  return result !== undefined && result !== 'lost' && result.status < 300;
}

/** Nothing was changed. */
export function isRefused(result: CallResult | undefined): boolean {
  return result === undefined || (result !== 'lost' && result.status >= 400 && result.status < 500);
}
