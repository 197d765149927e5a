/** The check of a webhook that failed. */
export type WebhookCheck =
  /** The body was parsed before: pass the bytes as they arrived. */
  | 'body_not_raw'
  /** No signing key was given, or an empty one. */
  | 'signing_key_missing'
  /** The request has no signature, or one without its id and timestamp. */
  | 'signature_missing'
  /** A signature header does not have the form of a signature. */
  | 'signature_malformed'
  /** No signing key gives the signature: a forged or changed request, or the key of another subscription. */
  | 'signature_mismatch'
  | 'timestamp_missing'
  | 'timestamp_malformed'
  /** Older than the tolerance: a replay, or a clock that is ahead. */
  | 'timestamp_too_old'
  /** Newer than the tolerance: a clock that is behind. */
  | 'timestamp_too_new'
  /** The signature is valid, but the body is not an event. */
  | 'event_malformed';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly check: WebhookCheck;

  constructor(check: WebhookCheck, message: string) {
    super(message);
    this.check = check;
  }
}
