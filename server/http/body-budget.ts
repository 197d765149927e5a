/**
 * Request bytes that this process holds at once, from their arrival until the answer is out. Counted as they arrive:
 * a declared length that is never sent takes nothing.
 */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** Who sent a body. Callers without credentials share a part of the budget, so that they cannot starve the others. */
export type BodySource = { key: string; isAnonymous: boolean };

/** Of the whole budget: all callers without credentials together. */
const ANONYMOUS_PART = 1 / 4;
/** Of what its kind may hold: one Organization, one member, or one address without credentials. */
const SOURCE_PART = 1 / 4;

export type BodyShare = {
  /** False when the bytes do not fit; they are then not counted. */
  take(bytes: number): boolean;
  /** May be called more than once. */
  release(): void;
};

export function createBodyBudget({ maxBytes }: { maxBytes: number }) {
  const heldBySource = new Map<string, number>();
  let held = 0;
  let heldByAnonymous = 0;

  function fits({ key, isAnonymous }: BodySource, bytes: number): boolean {
    const maxOfKind = isAnonymous ? maxBytes * ANONYMOUS_PART : maxBytes;
    if (held + bytes > maxBytes) return false;
    if (isAnonymous && heldByAnonymous + bytes > maxOfKind) return false;
    return (heldBySource.get(key) ?? 0) + bytes <= maxOfKind * SOURCE_PART;
  }

  function add({ key, isAnonymous }: BodySource, bytes: number): void {
    held += bytes;
    if (isAnonymous) heldByAnonymous += bytes;
    const ofSource = (heldBySource.get(key) ?? 0) + bytes;
    if (ofSource === 0) heldBySource.delete(key);
    else heldBySource.set(key, ofSource);
  }

  return {
    /** The share of one request. */
    open(source: BodySource): BodyShare {
      let taken = 0;
      let isOpen = true;
      return {
        take(bytes) {
          if (!isOpen || !fits(source, bytes)) return false;
          add(source, bytes);
          taken += bytes;
          return true;
        },
        release() {
          if (!isOpen) return;
          isOpen = false;
          if (taken > 0) add(source, -taken);
        },
      };
    },

    /** Bytes held at this moment. */
    held: () => held,
  };
}
