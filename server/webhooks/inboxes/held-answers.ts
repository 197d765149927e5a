import type { Socket } from 'node:net';
import type { Timers } from '../../infrastructure/runtime/clock.ts';

const MAX_HELD = 256;
/** As many requests as an endpoint gets at once; one partner's inbox must not use up all that are held. */
const MAX_HELD_PER_INBOX = 64;

/** Requests whose answer is delayed on purpose: few enough to harm no other caller, and ended by a shutdown. */
export function createHeldAnswers({ timers }: { timers: Timers }) {
  const held = new Map<() => void, string>();
  const countOf = (inboxGuid: string) => [...held.values()].filter((guid) => guid === inboxGuid).length;

  return {
    /** Resolves after the time, or when the client or the service closes; false if too many are held. */
    hold(inboxGuid: string, ms: number, socket: Socket): Promise<void> | false {
      if (held.size >= MAX_HELD || countOf(inboxGuid) >= MAX_HELD_PER_INBOX) return false;
      return new Promise((resolve) => {
        const cancel = timers.after(ms, release);
        function release(): void {
          held.delete(release);
          cancel();
          socket.off('close', release);
          resolve();
        }
        held.set(release, inboxGuid);
        socket.once('close', release);
      });
    },

    releaseAll(): void {
      for (const release of [...held.keys()]) release();
    },
  };
}
