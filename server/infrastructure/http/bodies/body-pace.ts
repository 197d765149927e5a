/**
 * Limits how many bytes of large bodies are processed in one turn of the event loop. Node reads all readable sockets in
 * the same turn, so forty large bodies would block other requests forty times as long as one.
 */
export type BodyPace = ReturnType<typeof createBodyPace>;

/** Takes a few milliseconds. */
const BYTES_PER_TURN = 1024 ** 2;
/** Decoding, parsing and validating a byte takes about this many times as long as reading it. */
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
    // Work that exceeds the limit by itself runs alone in its turn.
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
    /** Runs in this turn, or in a later one. */
    read: run,
    /** Schedules the parsing of a complete body. */
    parse: (bytes: number, work: () => void) => run(bytes * PARSE_WEIGHT, work),
  };
}
