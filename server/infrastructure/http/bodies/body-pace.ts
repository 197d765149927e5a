/**
 * How much of large bodies is dealt with in one turn of the event loop. Sockets that have data are all read in the
 * same turn, so without it forty bodies would hold up everybody else forty times as long as one.
 */
export type BodyPace = ReturnType<typeof createBodyPace>;

/** Read and scanned in one turn; some milliseconds of work. */
const BYTES_PER_TURN = 1024 ** 2;
/** Decoding, parsing and validating a byte takes about so many times as long as reading it. */
const PARSE_WEIGHT = 8;

export function createBodyPace(nextTurn: (work: () => void) => void = setImmediate) {
  let spent = 0;
  let isScheduled = false;
  let waiting: { bytes: number; work: () => void }[] = [];

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    nextTurn(turn);
  }

  function turn(): void {
    isScheduled = false;
    spent = 0;
    let begun = 0;
    // Work that is heavier than a turn has one for itself.
    for (const { bytes } of waiting) {
      if (begun > 0 && spent + bytes > BYTES_PER_TURN) break;
      spent += bytes;
      begun += 1;
    }
    const ready = waiting.slice(0, begun);
    waiting = waiting.slice(begun);
    if (waiting.length > 0 || begun > 0) schedule();
    for (const { work } of ready) work();
  }

  function run(bytes: number, work: () => void): void {
    schedule();
    if (spent > 0 && spent + bytes > BYTES_PER_TURN) {
      waiting.push({ bytes, work });
      return;
    }
    spent += bytes;
    work();
  }

  return {
    /** Reads on in this turn, or in a later one. */
    read: run,
    /** The same for what follows when a body is complete. */
    parse: (bytes: number, work: () => void) => run(bytes * PARSE_WEIGHT, work),
  };
}
