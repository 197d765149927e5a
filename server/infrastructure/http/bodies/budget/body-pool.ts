export type BodyShare = {
  /** False when the bytes exceed a limit; they are not counted then. */
  take(bytes: number): boolean;
  /** `stop` is called when this body is shed in favour of another one. Its bytes are no longer counted. */
  whenShed(stop: () => void): void;
  /** Marks the body as complete: it stays counted and is no longer shed. */
  complete(): void;
  /** Idempotent. */
  release(): void;
};

export type BodyPool = ReturnType<typeof createBodyPool>;

type Body = { key: string; bytes: number; isOpen: boolean; stop(): void };
type Sender = { held: number; arriving: Set<Body>; sizeClass: number | undefined };

/** Powers of two, up to the largest safe integer. */
const SIZE_CLASSES = 53;

/**
 * The bodies of one kind of sender, with a limit for the total and one per sender. When the total is exhausted, a body
 * of a small sender displaces an incomplete body of the largest sender.
 */
export function createBodyPool({
  maxBytes,
  maxBytesOfSender,
  shedsOwn,
}: {
  maxBytes: number;
  maxBytesOfSender: number;
  /** Whether a body over its sender's limit displaces the sender's older incomplete bodies. */
  shedsOwn: boolean;
}) {
  const senders = new Map<string, Sender>();
  /** Senders with a body that can be shed, in size classes: a search for the exact largest sender would be linear. */
  const bySize = Array.from({ length: SIZE_CLASSES }, () => new Set<Sender>());
  let held = 0;

  const heldBy = (key: string) => senders.get(key)?.held ?? 0;

  function update(key: string, change: (sender: Sender) => void): void {
    const sender = senders.get(key) ?? { held: 0, arriving: new Set(), sizeClass: undefined };
    const before = sender.held;
    change(sender);
    held += sender.held - before;
    if (sender.held === 0) senders.delete(key);
    else senders.set(key, sender);
    const sizeClass = sender.arriving.size > 0 ? sizeClassOf(sender.held) : undefined;
    if (sizeClass === sender.sizeClass) return;
    if (sender.sizeClass !== undefined) bySize[sender.sizeClass]?.delete(sender);
    if (sizeClass !== undefined) bySize[sizeClass]?.add(sender);
    sender.sizeClass = sizeClass;
  }

  function release(body: Body): void {
    if (!body.isOpen) return;
    body.isOpen = false;
    if (body.bytes === 0) return;
    update(body.key, (sender) => {
      sender.arriving.delete(body);
      sender.held -= body.bytes;
    });
  }

  function shed(body: Body | undefined): boolean {
    if (!body) return false;
    release(body);
    body.stop();
    return true;
  }

  function oldestBeside(body: Body): Body | undefined {
    return senders
      .get(body.key)
      ?.arriving.values()
      .find((other) => other !== body);
  }

  /** Of the largest sender, to a factor of two. Undefined when the new body would be as large. */
  function oldestOfLargest(newcomerBytes: number): Body | undefined {
    const sizeClass = bySize.findLastIndex(({ size }) => size > 0);
    if (sizeClass <= sizeClassOf(newcomerBytes)) return undefined;
    const [largest] = bySize[sizeClass] ?? [];
    return largest?.arriving.values().next().value;
  }

  function makeRoom(body: Body, bytes: number): boolean {
    if (body.bytes + bytes > maxBytesOfSender) return false;
    while (heldBy(body.key) + bytes > maxBytesOfSender)
      if (!shedsOwn || !shed(oldestBeside(body))) return false;
    while (held + bytes > maxBytes) if (!shed(oldestOfLargest(heldBy(body.key) + bytes))) return false;
    return true;
  }

  return {
    open(key: string): BodyShare {
      const body: Body = { key, bytes: 0, isOpen: true, stop: () => {} };
      return {
        take(bytes) {
          if (!body.isOpen || !makeRoom(body, bytes)) return false;
          update(key, (sender) => {
            sender.arriving.add(body);
            sender.held += bytes;
          });
          body.bytes += bytes;
          return true;
        },
        whenShed(stop) {
          body.stop = stop;
        },
        complete() {
          if (body.isOpen && body.bytes > 0) update(key, ({ arriving }) => arriving.delete(body));
        },
        release: () => release(body),
      };
    },

    held: () => held,
  };
}

function sizeClassOf(bytes: number): number {
  return Math.floor(Math.log2(bytes));
}
