import { ConfigurationError } from '../errors.ts';
import { type Content, sizeError } from './source.ts';

export type Progress = { sentBytes: number; totalBytes: number };

export type CountedStream = {
  stream: ReadableStream<Uint8Array>;
  /** Why the content could not be read. `fetch` reports it as a failure of the connection. */
  failure(): unknown;
  close(): void;
};

const PART_BYTES = 65_536;

/** In small parts, each counted when the next one is asked for: a source may be one large part. */
export function countedStream(
  content: Content,
  onProgress: ((progress: Progress) => void) | undefined,
): CountedStream {
  const { size: totalBytes } = content;
  const reader = content.stream().getReader();
  let rest = new Uint8Array();
  let sentBytes = 0;
  let isClosed = false;
  let failure: unknown;

  /** Undefined at the end. */
  async function nextPart(): Promise<Uint8Array | undefined> {
    if (sentBytes > 0) onProgress?.({ sentBytes, totalBytes });
    while (rest.length === 0) {
      const { done, value } = await reader.read();
      if (done && !isClosed && sentBytes < totalBytes) throw sizeError(sentBytes, totalBytes);
      if (done) return undefined;
      rest = value as Uint8Array<ArrayBuffer>;
    }
    const part = rest.subarray(0, PART_BYTES);
    rest = rest.subarray(PART_BYTES);
    sentBytes += part.length;
    if (sentBytes > totalBytes) throw new ConfigurationError(`The source has more than ${totalBytes} bytes`);
    return part;
  }

  function close(reason?: unknown): Promise<void> {
    isClosed = true;
    return reader.cancel(reason);
  }

  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const part = await nextPart();
        if (part) controller.enqueue(part);
        else if (!isClosed) controller.close();
      } catch (error) {
        // A part that is read while `fetch` gives up is refused by the closed stream.
        if (!isClosed) failure = error;
        throw error;
      }
    },
    cancel: close,
  });
  return {
    stream,
    failure: () => failure,
    // `fetch` of Node.js that cannot connect neither reads nor cancels the body, and may keep it locked.
    close: () => void close().catch(() => undefined),
  };
}
