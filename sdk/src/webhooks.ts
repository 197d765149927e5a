export { expressAdapter, fastifyAdapter, fetchAdapter, nextAdapter } from './webhooks/adapters.ts';
export { type WebhookCheck, WebhookVerificationError } from './webhooks/error.ts';
export type { EventType, WebhookEvent } from './webhooks/event.ts';
export type { WebhookHeaders } from './webhooks/headers.ts';
export {
  createReceiver,
  type Handlers,
  type Receipt,
  type Receiver,
  type ReceiverOptions,
} from './webhooks/receiver.ts';
export { createMemorySeenStore, type SeenStore } from './webhooks/seen.ts';
export { signWebhook } from './webhooks/sign.ts';
export { type VerifyOptions, verifyWebhook } from './webhooks/verify.ts';
