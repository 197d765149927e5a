export type SearchEntry = { href: string; page: string; heading: string; text: string };

const MAX_RESULTS = 8;
const MAX_WORDS = 8;
const BEFORE_MATCH = 40;
const EXCERPT = 150;
const POINTS = { heading: 20, page: 8, text: 1, mostInText: 5, introduction: 3 };
/** Words of other products, and ours. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '2fa': 'second factor',
  cursor: 'per_page',
  dedupe: 'deduplicate',
  mfa: 'second factor',
  ngrok: 'tunnel',
  paginate: 'per_page',
  pagination: 'per_page',
  paging: 'per_page',
  replay: 'redeliver',
  resend: 'redeliver',
  throttle: 'rate limit',
  totp: 'second factor',
  whitelist: 'allowlist',
};

/** The sections that contain every word, the best first, each with the text around the first match. */
export function findSections(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS).map(patternOf);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, points: pointsOf(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points)
    .slice(0, MAX_RESULTS)
    .map(({ entry }) => ({ ...entry, text: excerptOf(entry.text, words) }));
}

/** Matches at the beginning of words: "retry" finds "Retries", "401" does not find "4010". */
function patternOf(word: string): RegExp {
  const forms = [stemOf(word), ...(SYNONYMS[word] === undefined ? [] : [SYNONYMS[word]])];
  return new RegExp(`(?<![a-z0-9])(?:${forms.join('|')})`, 'gi');
}

function stemOf(word: string): string {
  const stem = word.replace(/(?<=^.{4,})(?:ies|ing|es|ed|s|y)$/, '');
  return `${stem.replaceAll(/[^\w\s]/g, '\\$&')}${/^\d+$/.test(word) ? '(?!\\d)' : ''}`;
}

/** 0 when a word is missing. */
function pointsOf({ page, heading, text }: SearchEntry, words: readonly RegExp[]): number {
  let sum = 0;
  for (const word of words) {
    const inText = Math.min(text.match(word)?.length ?? 0, POINTS.mostInText) * POINTS.text;
    const points =
      (heading.search(word) >= 0 ? POINTS.heading : 0) +
      (page.search(word) >= 0 ? POINTS.page : 0) +
      // What is above the first heading says what the page is about.
      inText * (heading === page ? POINTS.introduction : 1);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

function excerptOf(text: string, words: readonly RegExp[]): string {
  const found = words.map((word) => text.search(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...found, text.length) - BEFORE_MATCH);
  const from = start === 0 || found.length === 0 ? 0 : text.indexOf(' ', start) + 1;
  const isLong = from + EXCERPT < text.length;
  const to = isLong ? text.lastIndexOf(' ', from + EXCERPT) : text.length;
  return `${from > 0 ? '… ' : ''}${text.slice(from, Math.max(to, from))}${isLong ? ' …' : ''}`;
}
