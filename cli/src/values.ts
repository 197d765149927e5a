import { EVENT_TYPES } from '../../sdk/src/generated/events.ts';
import type { Context } from './command.ts';
import { UsageError } from './failure.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time of an option: `90s`, `15m`, `1h`, `7d`, or an ISO 8601 date-time. */
export function momentOption({ io, options }: Context, option: string): Date | undefined {
  const text = options.text(option);
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const moment =
    count === undefined ? new Date(text) : new Date(io.now() - Number(count) * (UNIT_MS[unit] ?? 0));
  const isDate = count !== undefined || /^\d{4}-\d\d-\d\d([T ]|$)/.test(text);
  if (!isDate || !(moment.getTime() >= 0))
    throw new UsageError(
      `--${option} must be a duration such as 90s, 15m, 1h or 7d, or an ISO 8601 date-time, and not before 1970.`,
    );
  return moment;
}

export function countOf(option: string, text: string, max: number): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > max)
    throw new UsageError(`--${option} must be a number from 1 to ${max}.`);
  return count;
}

const GUID = /^[0-9a-f]{32}$/;

export function guidOption({ options }: Context, option: string): string | undefined {
  const text = options.text(option);
  return text === undefined ? undefined : guidOf(`--${option}`, text);
}

export function guidOf(name: string, text: string): string {
  const guid = text.replaceAll('-', '').toLowerCase();
  if (!GUID.test(guid)) throw new UsageError(`${name} must be a guid of 32 hexadecimal characters.`);
  return guid;
}

/** Event types, separated by commas; `transfer.*` stands for those of a transfer. None means all. */
export function eventTypesOf(option: string, texts: readonly string[]): string[] {
  const patterns = texts.flatMap((text) => text.split(/[\s,]+/).filter(Boolean));
  // As of a variable that is not set: every type would be a surprise.
  if (texts.length > 0 && patterns.length === 0)
    throw new UsageError(`--${option} must be an event type such as transfer.completed.`);
  if (patterns.includes('*')) return [];
  return patterns.flatMap((pattern) => {
    if (!pattern.endsWith('.*')) return [pattern];
    const types = EVENT_TYPES.filter((type) => type.startsWith(pattern.slice(0, -1)));
    if (types.length === 0) throw new UsageError(`--${option} ${pattern} matches no event type.`);
    return types;
  });
}
