import { Failure } from '../infrastructure/runtime/failure.ts';

/** What the event stream and the live stream have in common: server-sent events (HTML standard, section 9.2). */

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A buffering proxy would never forward the stream.
  'x-accel-buffering': 'no',
  // A kept connection would delay a shutdown.
  connection: 'close',
};

/** Proxies close silent connections after a minute, and only a write detects a closed one. */
export const HEARTBEAT_EVERY_MS = 15_000;
export const RECONNECT_AFTER_MS = 1_000;

/** Per process, of each kind. */
export const MAX_STREAMS = 200;
export const MAX_STREAMS_OF_ORGANIZATION = 20;
/** Only an Organization without a stream gets one of the last: ten Organizations cannot keep out the others. */
const STREAMS_FOR_OTHER_ORGANIZATIONS = 50;
const TRY_AGAIN_SECONDS = 15;

type Streamed = { organizationGuid: string };

/** Refuses a further stream of an Organization; `open` are all streams of this kind and process. */
export function refusalOfStream(
  kind: 'Event stream' | 'Live stream',
  organizationGuid: string,
  { open, isClosed }: { open: readonly Streamed[]; isClosed: boolean },
): Failure | undefined {
  const later = { retryAfterSeconds: TRY_AGAIN_SECONDS };
  const own = open.filter((each) => each.organizationGuid === organizationGuid).length;
  const limit = own === 0 ? MAX_STREAMS : MAX_STREAMS - STREAMS_FOR_OTHER_ORGANIZATIONS;
  if (isClosed || open.length >= limit)
    return new Failure('overloaded', `${kind} limit of this node reached (${limit}); try again later`, later);
  if (own >= MAX_STREAMS_OF_ORGANIZATION)
    return new Failure(
      'api_rate_limit_exceeded',
      `${kind} limit of the Organization reached (${MAX_STREAMS_OF_ORGANIZATION}); close one first`,
      later,
    );
  return undefined;
}
