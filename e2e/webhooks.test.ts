import './webhooks/live.spec.ts';
import './webhooks/events.spec.ts';
import './webhooks/overview.spec.ts';
import './webhooks/subscriptions.spec.ts';
import './webhooks/on-call.spec.ts';
import './webhooks/attempts.spec.ts';
import './webhooks/endpoint.spec.ts';
import './webhooks/inbox.spec.ts';
