import { after } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import type { Answer, PostRequest } from '../sending/exchange.ts';
import { createTransport } from '../sending/transport.ts';

/** Resolves every name to this machine. */
export const resolveHere: Resolve = async () => ['127.0.0.1'];

/** A transport in virtual time that may post to private addresses. Closes after the test. */
export function createPosting(resolve = resolveHere) {
  const clock = createFakeClock();
  const transport = createTransport({ clock, timers: clock, resolve });
  after(() => transport.close());
  /** Returns the answer without its details. */
  async function post(url: string, request: Partial<PostRequest> = {}) {
    const sent = { url, headers: {}, body: '{}', allowPrivate: true, ...request };
    const { details: _, ...answer } = await transport.post(sent);
    return answer as Answer;
  }
  return { clock, transport, post };
}

/** The same URL with a host name, so that the resolver is used. */
export function named(url: string, hostname = 'hooks.partner.test'): string {
  return Object.assign(new URL(url), { hostname }).href;
}
