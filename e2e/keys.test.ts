// The redelivery spec starts and stops the dispatcher itself, so it cannot share an app with the webhook specs.
import './webhooks/redelivery.spec.ts';
import './keys/keys.spec.ts';
import './keys/one-time-secrets.spec.ts';
import './keys/selection.spec.ts';
