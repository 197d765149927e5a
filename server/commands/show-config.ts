import type { Config } from '../infrastructure/config/config.ts';
import { type SettingName, settings } from '../infrastructure/config/settings.ts';
import { Secret } from '../infrastructure/runtime/secret.ts';

/** Prints the effective settings as assignments with a description, and hides secrets. */
export function showConfig(config: Config): void {
  const lines = Object.entries(settings).map(([name, { variable, about }]) => {
    const value = config[name as SettingName];
    const unit = name.endsWith('Ms') ? 'ms' : '';
    return { assignment: `${variable}=${show(value)}${unit}`, about };
  });
  const width = Math.min(60, Math.max(...lines.map((line) => line.assignment.length)));
  for (const { assignment, about } of lines)
    process.stdout.write(`${assignment.padEnd(width)}  # ${about}\n`);
}

function show(value: unknown): string {
  if (value === undefined) return '';
  if (value instanceof Secret) return value.toString();
  if (Array.isArray(value)) return value.map(show).join(',');
  return String(value);
}
