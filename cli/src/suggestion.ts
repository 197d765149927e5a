/** The most similar of the words, if one is similar at all. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((each) => ({ each, distance: distanceOf(word, each) }))
    .filter(({ each, distance }) => distance <= Math.max(1, Math.floor(each.length / 3)))
    .sort((one, other) => one.distance - other.distance);
  return best?.each;
}

const MAX_COMPARED = 60;

/** Insertions, deletions, replacements, and swaps of neighbours (optimal string alignment). */
function distanceOf(one: string, other: string): number {
  if (one.length > MAX_COMPARED) return MAX_COMPARED;
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  const at = (row: number, place: number) => rows[row]?.[place] ?? MAX_COMPARED;
  for (let row = 1; row <= one.length; row += 1) {
    rows.push([row]);
    for (let place = 1; place <= other.length; place += 1) {
      const isSwap = one[row - 1] === other[place - 2] && one[row - 2] === other[place - 1];
      rows[row]?.push(
        Math.min(
          at(row, place - 1) + 1,
          at(row - 1, place) + 1,
          at(row - 1, place - 1) + (one[row - 1] === other[place - 1] ? 0 : 1),
          isSwap ? at(row - 2, place - 2) + 1 : MAX_COMPARED,
        ),
      );
    }
  }
  return at(one.length, other.length);
}
