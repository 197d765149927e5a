/** The most similar of the words, if one is similar at all. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((each) => ({ each, distance: distanceOf(word, each) }))
    .filter(({ each, distance }) => distance <= Math.max(1, Math.floor(each.length / 3)))
    .sort((one, other) => one.distance - other.distance);
  return best?.each;
}

const MAX_COMPARED = 60;

/** Of Levenshtein: insertions, deletions and replacements of characters. */
function distanceOf(one: string, other: string): number {
  if (one.length > MAX_COMPARED) return MAX_COMPARED;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1];
    for (const [place, compared] of [...other].entries())
      next.push(
        Math.min(
          (next[place] ?? 0) + 1,
          (row[place + 1] ?? 0) + 1,
          (row[place] ?? 0) + (character === compared ? 0 : 1),
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
