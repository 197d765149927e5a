import { setTimeout as delay } from 'node:timers/promises';
import type { Outage } from './answers.ts';
import type { Cluster, DatabaseProxy } from './cluster.ts';
import type { Disk } from './disk.ts';
import type { PastFault } from './explanations.ts';
import { describeFault, type Fault, isOfNode, type NodeName } from './plan.ts';
import type { PorticoProcess } from './portico-process.ts';

/** The processes find out by themselves before (after at most 25 s). */
const SERVER_GIVES_UP_AFTER_MS = 30_000;
const REFILL_EVERY_MS = 250;

type Options = {
  cluster: Cluster;
  disk: Disk | undefined;
  signal: AbortSignal;
  note(text: string): void;
};

/** Makes the faults of a plan happen, and records when they did. */
export function createInjector({ cluster, disk, signal, note }: Options) {
  const { postgres, proxies, processes } = cluster;
  const past: PastFault[] = [];
  const outages: Outage[] = [];
  const skipped: Fault[] = [];
  let databaseFaults = Promise.resolve();

  const pass = (ms: number) => delay(ms, undefined, { signal });

  function processOf({ nodes: [name] }: Fault): PorticoProcess {
    return processes.get(name as NodeName) as PorticoProcess;
  }

  function proxiesOf({ nodes }: Fault): DatabaseProxy[] {
    return nodes.map((name) => proxies.get(name) as DatabaseProxy);
  }

  /** Without this, connections of processes that no longer exist would use up those of PostgreSQL. */
  function dropSilentLater(stalled: readonly DatabaseProxy[]): void {
    setTimeout(() => {
      for (const proxy of stalled) proxy.dropSilent();
    }, SERVER_GIVES_UP_AFTER_MS).unref();
  }

  async function happen(fault: Fault): Promise<void> {
    const met = proxiesOf(fault);
    switch (fault.kind) {
      case 'kill':
      case 'terminate':
        return await processOf(fault).fault(fault.kind, fault.durationMs);
      case 'postgres': {
        await postgres.stopImmediately();
        const outage = { from: Date.now(), to: Number.POSITIVE_INFINITY };
        outages.push(outage);
        await pass(fault.durationMs);
        outage.to = Date.now();
        return await postgres.ensureRunning();
      }
      case 'stall':
        for (const proxy of met) proxy.silenceAll();
        await pass(fault.durationMs);
        for (const proxy of met) proxy.restore();
        return dropSilentLater(met);
      case 'stall-open':
        for (const proxy of met) proxy.silenceOpen();
        return dropSilentLater(met);
      case 'reset':
        for (const proxy of met) proxy.refuseAll();
        await pass(fault.durationMs);
        for (const proxy of met) proxy.restore();
        return;
      case 'disk':
        // A checkpoint may free some of it, so it is filled again.
        for (const until = Date.now() + fault.durationMs; Date.now() < until; await pass(REFILL_EVERY_MS))
          await disk?.fill();
        await disk?.free();
        // PostgreSQL ends itself if it cannot write its log; its service manager would start it again.
        return await postgres.ensureRunning();
    }
  }

  async function inject(fault: Fault): Promise<void> {
    const isDown = isOfNode(fault) && !processOf(fault).isUp();
    if (isDown || (fault.kind === 'disk' && !disk)) {
      skipped.push(fault);
      return;
    }
    note(describeFault(fault));
    const { kind, nodes } = fault;
    const entry: PastFault = { kind, nodes, from: Date.now(), to: Number.POSITIVE_INFINITY };
    past.push(entry);
    await happen(fault).finally(() => {
      entry.to = Date.now();
    });
  }

  return {
    past: past as readonly PastFault[],
    outages: outages as readonly Outage[],
    skipped: skipped as readonly Fault[],

    /** Resolves when all have ended. */
    async run(plan: readonly Fault[]): Promise<void> {
      const startedAt = Date.now();
      await Promise.all(
        plan.map(async (fault) => {
          await pass(Math.max(0, startedAt + fault.atMs - Date.now()));
          if (isOfNode(fault)) return await inject(fault);
          // One at a time: a start of PostgreSQL may take longer than planned.
          const before = databaseFaults;
          databaseFaults = before.catch(() => undefined).then(() => inject(fault));
          await databaseFaults;
        }),
      );
    },
  };
}
