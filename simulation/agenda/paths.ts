/** What `docs/partners/objects.md` promises, by the ending; not read from the code under test. */
export const PATHS = {
  transfer: {
    completed: ['storing', 'reviewing', 'completed'],
    failed: ['storing', 'reviewing', 'failed'],
    holding: ['storing', 'pending', 'holding'],
  },
  trade: {
    completed: ['storing', 'pending', 'executed', 'settling', 'completed'],
    failed: ['storing', 'pending', 'failed'],
    cancelled: ['storing', 'pending', 'cancelled'],
  },
  identity_verification: {
    completed: ['storing', 'pending', 'reviewing', 'completed'],
    expired: ['storing', 'waiting', 'expired'],
  },
  external_bank_account: {
    completed: ['storing', 'completed'],
    failed: ['storing', 'failed'],
    expired: ['storing', 'completed', 'expired'],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

export type ObjectType = keyof typeof PATHS;
