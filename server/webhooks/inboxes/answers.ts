/** How an inbox answers, so that a partner can see each way in which an endpoint fails. */
export const ANSWERS = ['success', 'error', 'slow', 'hang', 'refuse'] as const;

/** Of the answer `slow`: noticeable, and within the time that a delivery waits. */
export const SLOW_MS = 5_000;
