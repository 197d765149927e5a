/** Numbers that a seed decides. A fork has its own sequence, so that one part's draws do not move another's. */
export type Random = {
  /** At least 0, below 1. */
  next(): number;
  /** From `min` to `max`, both included. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
  bytes(size: number): Buffer;
  fork(name: string): Random;
};

export function createRandom(seed: string): Random {
  const next32 = sfc32(seed);
  const next = () => next32() / 2 ** 32;
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick(items) {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
    shuffle(items) {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = integer(0, last);
        [shuffled[last], shuffled[other]] = [shuffled[other] as never, shuffled[last] as never];
      }
      return shuffled;
    },
    bytes(size) {
      const bytes = Buffer.allocUnsafe(size);
      for (let index = 0; index < size; index += 1) bytes[index] = next32() & 0xff;
      return bytes;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** The small fast counting generator of PractRand, seeded with an FNV hash of the text. */
function sfc32(seed: string): () => number {
  let [a, b, c, counter] = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 15; round += 1) next();
  return next;
}

function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value | 0;
}
