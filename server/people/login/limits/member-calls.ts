import { connectionsOfOne } from '../../../infrastructure/database/connections/connection-counts.ts';
import { createCallsInFlight } from '../../../infrastructure/http/limits/calls-in-flight.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';

/** Of one member in one process; a page of the dashboard sends fewer. */
const MAX_MEMBER_CALLS = 40;
const MAX_RUNNING_MEMBER_CALLS = 4;

/** Calls of a member that wait for the same row, such as their membership, leave the connections to others. */
export function createMemberCalls({
  connections,
  ...time
}: {
  connections: number;
  clock: Clock;
  timers: Timers;
}) {
  const running = Math.min(MAX_RUNNING_MEMBER_CALLS, connectionsOfOne(connections).other);
  const maxRunning = { list: running, other: running };
  return createCallsInFlight({ ...time, maxInFlight: MAX_MEMBER_CALLS, maxRunning, owner: 'member' });
}
