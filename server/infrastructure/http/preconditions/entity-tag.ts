import { hash } from 'node:crypto';

/** One element of a list of entity tags (RFC 9110, sections 5.6.1 and 8.8.3); an element may be empty. */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/gy;
const WEAK_PREFIX = /^W\//;
/** Separates the digest of the fields that callers change from the digest of the activity. */
const SEPARATOR = '.';

/**
 * A strong entity tag of a representation. `activity` names the fields that change whenever the object is used, such as
 * `last_used_at`: they are part of the tag, but `If-Match` does not compare them.
 */
export function entityTagOf(view: object, activity: readonly string[] = []): string {
  if (activity.length === 0) return `"${digest(view)}"`;
  const [edited, used] = [false, true].map((isActivity) =>
    digest(
      Object.fromEntries(Object.entries(view).filter(([name]) => activity.includes(name) === isActivity)),
    ),
  );
  return `"${edited}${SEPARATOR}${used}"`;
}

/** The tags of an `If-Match` or `If-None-Match` header; undefined when it is malformed. */
export function parseEntityTags(header: string): '*' | string[] | undefined {
  if (header.trim() === '*') return '*';
  const elements = [...header.matchAll(ELEMENT)];
  const matched = elements.reduce((sum, [text]) => sum + text.length, 0);
  const tags = elements.flatMap(([, tag]) => tag ?? []);
  return matched === header.length && tags.length > 0 ? tags : undefined;
}

/** The weak comparison, for `If-None-Match` (RFC 9110, section 8.8.3.2). */
export function includesTag(tags: '*' | readonly string[], current: string): boolean {
  return tags === '*' || tags.some((tag) => tag.replace(WEAK_PREFIX, '') === current);
}

/** The strong comparison, for `If-Match`: a weak tag never matches. */
export function includesVersion(tags: '*' | readonly string[], current: string): boolean {
  if (tags === '*') return true;
  const end = current.indexOf(SEPARATOR);
  return end === -1
    ? tags.includes(current)
    : tags.some((tag) => tag.startsWith(current.slice(0, end + SEPARATOR.length)));
}

/** The order of keys does not count: PostgreSQL reorders those of a `jsonb`. */
function digest(view: object): string {
  return hash('sha256', JSON.stringify(sorted(view)), 'base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}
