import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/**
 * Like React's `lazy`, with `Failed` in place of a component that cannot be loaded. The error would replace the whole
 * dashboard, with open forms and secrets that are shown only once.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Failed: ComponentType<Props>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load().catch(() => Failed) }));
}
