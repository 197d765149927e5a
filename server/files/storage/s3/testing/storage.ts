import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { createFakeClock } from '../../../../../testing/app/fake-clock.ts';
import { type Clock, systemClock } from '../../../../infrastructure/runtime/clock.ts';
import { createGuids } from '../../../../infrastructure/runtime/guid.ts';
import type { S3Settings } from '../client.ts';
import { createS3Storage } from '../s3.ts';
import { createS3Double } from './double.ts';

const HOUR_MS = 3_600_000;

export function storageOn(settings: S3Settings, clock: Clock = systemClock) {
  const guids = createGuids({ clock: systemClock, randomBytes });
  return createS3Storage({ ...settings, clock, guids });
}

/** A storage on a store of its own, and the expiry of links that live for an hour. */
export async function createStore() {
  const clock = createFakeClock();
  const double = await createS3Double(clock);
  const storage = storageOn(double.settings, clock);
  after(() => {
    storage.close();
    double.close();
  });
  const expiresAt = new Date(clock.now().getTime() + HOUR_MS);
  return { clock, double, storage, expiresAt, objects: double.bucket.objects };
}

export function upload(
  url: string,
  type: string,
  body: string,
  init: { method?: string; headers?: object } = {},
) {
  const headers = { ...(type && { 'content-type': type }), ...init.headers };
  return fetch(url, { method: init.method ?? 'PUT', headers, body: new TextEncoder().encode(body) });
}
