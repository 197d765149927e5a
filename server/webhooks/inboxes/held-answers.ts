import type { Socket } from 'node:net';
import type { Timers } from '../../infrastructure/runtime/clock.ts';

const MAX_HELD = 512;
/** As many requests as an endpoint gets at once; the inboxes of one Organization must not use up all that are held. */
const MAX_HELD_PER_ORGANIZATION = 64;

/** Requests whose answer is delayed on purpose: few enough to harm no other caller, and ended by a shutdown. */
export function createHeldAnswers({ timers }: { timers: Timers }) {
  const held = new Map<() => void, string>();
  let isClosed = false;
  const countOf = (organizationGuid: string) =>
    [...held.values()].filter((guid) => guid === organizationGuid).length;

  return {
    /** Resolves after the time, or when the client or the service closes; false if too many are held. */
    hold(organizationGuid: string, ms: number, socket: Socket): Promise<void> | false {
      // Closed while the request was stored: no event would end the wait.
      if (isClosed || socket.destroyed) return Promise.resolve();
      if (held.size >= MAX_HELD || countOf(organizationGuid) >= MAX_HELD_PER_ORGANIZATION) return false;
      return new Promise((resolve) => {
        const cancel = timers.after(ms, release);
        function release(): void {
          held.delete(release);
          cancel();
          socket.off('close', release);
          resolve();
        }
        held.set(release, organizationGuid);
        socket.once('close', release);
      });
    },

    /** Also for requests that arrive afterwards. */
    close(): void {
      isClosed = true;
      for (const release of [...held.keys()]) release();
    },
  };
}
