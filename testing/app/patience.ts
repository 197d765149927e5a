/** Tells a hang from a slow machine: the service takes a minute to start beside many other processes. */
export const PATIENCE_MS = 300_000;
