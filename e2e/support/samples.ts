import type { Tenant } from '../../testing/tenant.ts';
import { type Handler, listOf } from './agreed-api.ts';

const MINUTE_MS = 60_000;

function ago(minutes: number): string {
  return new Date(Date.now() - minutes * MINUTE_MS).toISOString();
}

export function sampleGuid(number: number): string {
  return `0199e5a4c1b27d3e8f60a1b2c3d4${String(number).padStart(4, '0')}`;
}

/** Something on every page whose part of the API is only agreed so far. */
export function sampleHandlers({ bankGuid }: Tenant, subscriptionGuid: string): Record<string, Handler> {
  const points = Array.from({ length: 96 }, (_, step) => ({
    at: ago((96 - step) * 15),
    completed: Math.round(300 + 180 * Math.sin(step / 9)),
    failed_attempts: step > 70 && step < 80 ? 90 : 2,
    events: Math.round(160 + 90 * Math.sin(step / 9)),
  }));
  const endpoint = {
    completed: 29_120,
    failed_attempts: 830,
    success_rate: 0.972,
    p50_ms: 38,
    p99_ms: 2_412,
  };
  const members = [
    { name: 'Ada Lovelace', email: 'ada@acme.test', role: 'founder', state: 'active', last_seen_at: ago(1) },
    { email: 'grace@acme.test', role: 'developer', state: 'invited' },
  ];
  const files = [
    { state: 'completed', size: 2_483_211, sha256: 'a3'.repeat(32) },
    { state: 'storing' },
    { state: 'failed', failure_code: 'content_type_mismatch' },
  ];
  return {
    'GET /api/delivery_statistics': () => ({
      body: {
        range: '24h',
        step_seconds: 900,
        subscriptions: [{ subscription_guid: subscriptionGuid, ...endpoint }],
        points,
      },
    }),
    'GET /api/members': () =>
      listOf(
        members.map((member, index) => ({ guid: sampleGuid(index), created_at: ago(9_000), ...member })),
      ),
    'GET /api/audit_entries': () =>
      listOf([
        {
          guid: sampleGuid(1),
          actor_type: 'user',
          actor: sampleGuid(0),
          action: 'subscription.create',
          object_type: 'subscription',
          object_id: subscriptionGuid,
          changes: { name: 'Payments backend', url: 'https://partner.example/hook' },
          address: '198.35.26.96',
          created_at: ago(12),
        },
      ]),
    'GET /api/files': () =>
      listOf(
        files.map((file, index) => ({
          guid: sampleGuid(index),
          bank_guid: bankGuid,
          customer_guid: sampleGuid(50),
          type: 'passport',
          filename: `passport-${index}.jpg`,
          content_type: 'image/jpeg',
          created_at: ago(index * 90),
          ...file,
        })),
      ),
    'GET /api/transfers': () =>
      listOf(
        ['storing', 'reviewing', 'completed', 'failed'].map((state, index) => ({
          guid: sampleGuid(index),
          bank_guid: bankGuid,
          transfer_type: 'funding',
          asset: 'USD',
          amount: 1_000,
          state,
          created_at: ago(index),
          updated_at: ago(index),
        })),
      ),
    'GET /api/subscription_deliveries/live': () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: ['completed', 'failing'].map((state) => liveMessage(subscriptionGuid, state)).join(''),
    }),
    'GET /dashboard/account/passkeys': () => ({
      body: { objects: [{ guid: sampleGuid(1), name: 'Laptop', created_at: ago(9_000) }] },
    }),
    'GET /dashboard/account/sessions': () => ({
      body: {
        objects: [true, false].map((current, index) => ({
          guid: sampleGuid(index),
          created_at: ago(900),
          last_seen_at: ago(index * 60),
          address: '198.35.26.96',
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0 Safari/537.36',
          current,
        })),
      },
    }),
  };
}

export function liveMessage(subscriptionGuid: string, state: string): string {
  const delivery = {
    guid: sampleGuid(7),
    subscription_guid: subscriptionGuid,
    subscription_event_guid: sampleGuid(8),
    event_type: 'transfer.completed',
    state,
    ...(state === 'completed'
      ? { response_status: 204 }
      : { failure_kind: 'rejected', response_status: 500 }),
    response_time_ms: 2_412,
    attempted_at: ago(0),
  };
  return `data: ${JSON.stringify(delivery)}\n\n`;
}
