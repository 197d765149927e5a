/**
 * Tells a hang from a slow machine: the service takes a minute to start beside many other processes. Below the two
 * minutes after which a file is ended, so that the test says what it waited for.
 */
export const PATIENCE_MS = 100_000;
/** For a test that would hang if its rule were broken. */
export const LIMITED = { timeout: PATIENCE_MS };
