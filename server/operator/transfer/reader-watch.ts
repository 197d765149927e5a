import { Transform } from 'node:stream';
import type { Timers } from '../../infrastructure/runtime/clock.ts';

/** An export holds a snapshot, and vacuum removes no rows that are newer. */
const STALLED_MS = 120_000;

/** Passes bytes on, and fails when its reader accepts none of the waiting ones between two checks. */
export function createReaderWatch(timers: Timers): Transform {
  let passed = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      done(null, chunk);
    },
  });
  const accepted = () => passed - stream.readableLength;
  /** At the last check, if bytes were waiting. */
  let acceptedBefore = -1;

  function check(): void {
    if (stream.readableLength > 0 && accepted() === acceptedBefore)
      stream.destroy(new Error(`the reader accepted nothing for ${STALLED_MS / 1000} seconds`));
    acceptedBefore = stream.readableLength > 0 ? accepted() : -1;
    cancel = timers.after(STALLED_MS, check);
  }

  let cancel = timers.after(STALLED_MS, check);
  stream.once('close', () => cancel());
  return stream;
}
