export type SearchEntry = { href: string; page: string; heading: string; text: string };

const MAX_RESULTS = 8;
const MAX_WORDS = 8;
const BEFORE_MATCH = 40;
const EXCERPT = 150;
const POINTS = { heading: 20, page: 8, text: 1, mostInText: 5 };

/** The sections that contain every word, the best first, each with the text around the first match. */
export function findSections(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS).map(stemOf);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, points: pointsOf(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => ({ ...entry, text: excerptOf(entry.text, words) }));
}

/** So that "retry" finds "Retries", and "verify" finds "verified". */
function stemOf(word: string): string {
  return word.replace(/(?<=^.{4,})(?:ies|ing|es|ed|s|y)$/, '');
}

/** 0 when a word is missing. */
function pointsOf({ page, heading, text }: SearchEntry, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    const inText = text.toLowerCase().split(word).length - 1;
    const points =
      (heading.toLowerCase().includes(word) ? POINTS.heading : 0) +
      (page.toLowerCase().includes(word) ? POINTS.page : 0) +
      Math.min(inText, POINTS.mostInText) * POINTS.text;
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

function excerptOf(text: string, words: readonly string[]): string {
  const found = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...found, text.length) - BEFORE_MATCH);
  const from = start === 0 || found.length === 0 ? 0 : text.indexOf(' ', start) + 1;
  const isLong = from + EXCERPT < text.length;
  const to = isLong ? text.lastIndexOf(' ', from + EXCERPT) : text.length;
  return `${from > 0 ? '… ' : ''}${text.slice(from, Math.max(to, from))}${isLong ? ' …' : ''}`;
}
