/** A proof of who somebody is (login, password, one-time password or passkey) allows lasting changes for this long. */
const PROOF_LIFETIME_MS = 5 * 60_000;

export function isFreshProof(provedAt: Date | null | undefined, now: Date): boolean {
  return provedAt != null && now.getTime() - provedAt.getTime() < PROOF_LIFETIME_MS;
}
