import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../api/types.ts';
import { createServices, SESSION_KEY } from './services.ts';
import { replaceSession, resumeSession } from './session.ts';

const SESSION = { member: { email: 'ada@acme.test' } } as Session;

for (const [name, logIn] of Object.entries({ replaceSession, resumeSession }))
  test(`${name} ignores the response to a request from before the login`, async () => {
    const services = createServices();
    const response = Promise.withResolvers<null>();
    const reading = services.queries.fetchQuery({ queryKey: SESSION_KEY, queryFn: () => response.promise });
    logIn(services, SESSION);
    response.resolve(null);
    await reading.catch(() => undefined);
    assert.deepEqual(services.queries.getQueryData(SESSION_KEY), SESSION);
    services.queries.clear();
  });
