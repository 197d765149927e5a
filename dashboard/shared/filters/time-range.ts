import type { Query } from '../../api/send.ts';
import type { Search, SearchName } from './search.ts';

/** The search names of a time range: a preset, or its own beginning and end. */
export const TIME_FILTERS = ['time', 'from', 'until'] as const satisfies readonly SearchName[];

const HOUR_MS = 3_600_000;
const PRESETS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const;

export type Preset = keyof typeof PRESETS;

export function presetOf({ time }: Search): Preset | undefined {
  return time !== undefined && isPreset(time) ? time : undefined;
}

function isPreset(text: string): text is Preset {
  return Object.hasOwn(PRESETS, text);
}

/** The beginning of a preset is relative, such as `now-24h`, until `resolveTimes` replaces it. */
export function timeRangeOf(filters: Search): { from?: string | undefined; until?: string | undefined } {
  const preset = presetOf(filters);
  return preset ? { from: `now-${preset}` } : { from: filters.from, until: filters.until };
}

export function startOf(preset: Preset, now: number): string {
  return new Date(now - PRESETS[preset]).toISOString();
}

/** Resolved with every request, so that the cache key of a list stays the same while its window moves. */
export function resolveTimes(query: Query, now: number): Query {
  const entries = Object.entries(query).map(([name, value]) => {
    const preset = typeof value === 'string' && value.startsWith('now-') ? value.slice(4) : undefined;
    return [name, preset !== undefined && isPreset(preset) ? startOf(preset, now) : value];
  });
  return Object.fromEntries(entries);
}
