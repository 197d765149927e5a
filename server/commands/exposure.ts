import type { Config } from '../infrastructure/config/config.ts';
import type { Log } from '../infrastructure/runtime/log.ts';

/** Logs the local defaults that are off and the unsafe settings that are on. */
export function logExposure({ exposure }: Pick<Config, 'exposure'>, log: Log): void {
  if (!exposure) return;
  const { exposedBy, off, unsafe } = exposure;
  if (off.length > 0)
    log.warn({ exposed_by: exposedBy, off }, 'other machines can reach this service: local defaults are off');
  if (unsafe.length > 0)
    log.warn(
      { exposed_by: exposedBy, unsafe },
      'other machines can reach this service: unsafe settings are on',
    );
}
