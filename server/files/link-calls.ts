import type { FastifyReply } from 'fastify';
import { unwrap } from '../infrastructure/http/errors.ts';
import { type Call, createCallsInFlight } from '../infrastructure/http/limits/calls-in-flight.ts';
import { whenClosed } from '../infrastructure/http/requests/when-closed.ts';
import type { Clock, Timers } from '../infrastructure/runtime/clock.ts';

export type LinkCalls = ReturnType<typeof createLinkCalls>;

/** Of one Organization, until its content is transferred: as many as it may have unfinished files by default. */
export const MAX_IN_FLIGHT = 1_000;
/** Of one Organization: a flood at its links leaves the connections to others. */
const MAX_RUNNING = 1;

/**
 * Limits the calls to upload links or to download links. They are counted apart from the Organization's calls to the
 * API, because a link is passed on to people who must not be able to block these.
 */
export function createLinkCalls({ clock, timers }: { clock: Clock; timers: Timers }) {
  const callsInFlight = createCallsInFlight({
    maxInFlight: MAX_IN_FLIGHT,
    maxRunning: { list: MAX_RUNNING, other: MAX_RUNNING },
    clock,
    timers,
  });
  return {
    /** The call counts until it is closed: by the route, or with its connection. */
    enter(countedBy: string, reply: FastifyReply): Call {
      const call = unwrap(callsInFlight.enter(countedBy, 'other'));
      whenClosed(reply, call.close);
      return call;
    },
  };
}
