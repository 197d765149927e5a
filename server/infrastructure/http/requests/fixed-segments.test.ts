import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { hasEncodedFixedSegment } from './fixed-segments.ts';

const isFound = (url: string) =>
  !hasEncodedFixedSegment({ url, routeOptions: { url: '/operator/banks/:guid' } } as FastifyRequest);

test('only parameters may be percent-encoded, in every form of the request target', () => {
  for (const origin of ['', 'http://evil', 'https://evil', 'HTTP://evil', 'hTTps://evil:8080']) {
    assert.equal(isFound(`${origin}/operator/banks/%30`), true, origin);
    assert.equal(isFound(`${origin}/%6fperator/banks/0`), false, origin);
    assert.equal(isFound(`${origin}/operator/%62anks/0?a=%62`), false, origin);
  }
});
