import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import { MAX_STREAMS, MAX_STREAMS_OF_ORGANIZATION } from '../../streams.ts';
import type { StreamedEvent, StreamPage } from './stream-store.ts';

/** Lists and streams share their connections. */
const MAX_READS_AT_ONCE = 2;

/**
 * Reads pages of the streams. Organizations take turns, so that many streams of one that read a long history do not
 * delay the others.
 */
export function createPageReads(select: (page: StreamPage) => Promise<StreamedEvent[]>) {
  const queue = createFairQueue({
    atOnce: MAX_READS_AT_ONCE,
    classes: { page: { maxWaiting: MAX_STREAMS, maxWaitingPerSource: MAX_STREAMS_OF_ORGANIZATION } },
  });
  /** Streams at the same position share a read. */
  const shared = new Map<string, Promise<StreamedEvent[]>>();

  async function readInTurn(page: StreamPage): Promise<StreamedEvent[]> {
    const rows = await queue.run('page', page.organizationGuid, () => select(page));
    if (rows === SHED) throw new Error('too many reads are waiting');
    return rows;
  }

  return async function read(page: StreamPage): Promise<StreamedEvent[]> {
    const key = JSON.stringify(page);
    const reading = shared.get(key) ?? readInTurn(page);
    shared.set(key, reading);
    return reading.finally(() => shared.delete(key));
  };
}
