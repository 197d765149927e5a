import { after } from 'node:test';
import { createFakeClock } from '../../../../testing/fake-clock.ts';
import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import { createTransport, type Exchange } from '../sending/transport.ts';

/** Every name is this machine: names in tests exist nowhere else. */
export const resolveHere: Resolve = async () => ['127.0.0.1'];

/** A transport in virtual time, and a short way to post to private addresses. Closes after the test. */
export function createPosting(resolve = resolveHere) {
  const clock = createFakeClock();
  const transport = createTransport({ clock, timers: clock, resolve });
  after(() => transport.close());
  function post(url: string, exchange: Partial<Exchange> = {}) {
    return transport.post({ url, headers: {}, body: '{}', allowPrivate: true, ...exchange });
  }
  return { clock, transport, post };
}

/** The same endpoint under a name, for which the resolver is asked. */
export function named(url: string, hostname = 'hooks.partner.test'): string {
  return Object.assign(new URL(url), { hostname }).href;
}
