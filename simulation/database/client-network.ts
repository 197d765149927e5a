import type { Random } from '../machine/random.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';
import type { Connection, Link } from './connection.ts';

export type ClientNetwork = ReturnType<typeof createClientNetwork>;

type Notice = { owner: Owner; notify(): void };

const SLOW_MS = 200;

/** The network between nodes and the database: what a node is notices, in order and after a latency that the seed draws. */
export function createClientNetwork({ scheduler, random }: { scheduler: Scheduler; random: Random }) {
  let serving = 0;
  const notices: Notice[] = [];
  /** Of frozen nodes, in order. */
  const heldBy = new Map<Owner, (() => void)[]>();

  /** Code of nodes runs after the work with the server, or its order would depend on the server's speed. */
  async function serve(work: () => void | Promise<void>): Promise<void> {
    serving += 1;
    try {
      await work();
    } finally {
      serving -= 1;
    }
    if (serving === 0) for (const notice of notices.splice(0)) deliverNotice(notice);
  }

  /** A frozen node learns of it when it runs again. */
  function deliverNotice({ owner, notify }: Notice): void {
    if (owner.isDead) return;
    const held = heldBy.get(owner) ?? [];
    if (owner.frozenUntil <= scheduler.now() && held.length === 0) return void enter(owner, notify);
    heldBy.set(owner, [...held, notify]);
    if (held.length > 0) return;
    scheduler.add(0, {
      ...{ kind: 'fixed', owner, label: undefined },
      run() {
        const missed = heldBy.get(owner) ?? [];
        heldBy.delete(owner);
        for (const each of missed) enter(owner, each);
      },
    });
  }

  function inform(owner: Owner, notify: () => void): void {
    notices.push({ owner, notify });
  }

  const latency = (link: Link) =>
    (random.chance(0.02) ? random.next() * SLOW_MS : 0.1 + random.next() * 1.5) + link.extraMs;

  return {
    serve,
    inform,
    latency,
    schedule(connection: Connection, what: string, run: () => void | Promise<void>): void {
      const { owner, link } = connection;
      const label = `${connection.name} ${what}`;
      scheduler.add(latency(link), { owner, label, run: () => serve(run) });
    },
    fail({ owner, stream }: Connection, code: string, text: string): void {
      inform(owner, () => void stream.destroy(Object.assign(new Error(text), { code })));
    },
    /** In order; mostly in the same step, because what happens between a statement and its answer is a rare interleaving. */
    answer(connection: Connection, bytes: Buffer): void {
      const { owner, link, stream } = connection;
      connection.answers.push(bytes);
      const deliver = () => {
        const next = connection.answers.shift();
        if (next && !connection.isSilent && !connection.isOver) inform(owner, () => stream.deliver(next));
      };
      if (connection.answers.length === 1 && link.extraMs === 0 && random.chance(0.7)) deliver();
      else
        scheduler.add(latency(link), {
          ...{ owner, label: `${connection.name} answer` },
          run: () => serve(deliver),
        });
    },
  };
}
