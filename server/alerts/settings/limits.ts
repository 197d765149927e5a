/** Waiting deliveries are counted up to 10,000, so that a higher number would never be passed. */
export const MAX_WAITING_THRESHOLD = 9_999;
