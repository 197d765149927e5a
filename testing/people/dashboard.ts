import assert from 'node:assert/strict';
import type { InjectOptions } from 'fastify';
import type { Role } from '../../server/tokens/roles.ts';
import type { Answer, TestApp } from '../app/app.ts';

/** Calls of a browser with a session, and its users. */
export type Browser = { cookie: string };
export type Person = Browser & { memberGuid: string; email: string; password: string };

export const PASSWORD = 'correct horse battery staple';

type Call = {
  as?: Browser | undefined;
  payload?: object | undefined;
  headers?: Record<string, string>;
  remoteAddress?: string;
};

export function browse(
  app: TestApp,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  { as, payload, headers = {}, ...options }: Call = {},
): Promise<Answer> {
  const sent = {
    ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    ...(as ? { cookie: as.cookie } : {}),
    ...headers,
  };
  const call: InjectOptions = { method, url: `/dashboard${path}`, headers: sent, ...options };
  return app.call({ ...call, ...(payload === undefined ? {} : { payload }) });
}

/** The cookie that a browser would send back. */
export function browserOf({ headers }: Answer): Browser {
  const [first] = [headers['set-cookie']].flat();
  assert.ok(typeof first === 'string', 'a cookie was set');
  return { cookie: first.split(';', 1)[0] as string };
}

export function tokenInLink(link: unknown): string {
  const { hash } = new URL(String(link));
  assert.match(hash, /^#token=[\w-]{43}$/);
  return hash.slice('#token='.length);
}

let people = 0;

/** Invited by the operator, with a password set by the link, and logged in. */
export async function joinTeam(
  app: TestApp,
  organizationGuid: string,
  { role = 'founder', email = `person-${++people}@partner.example` }: { role?: Role; email?: string } = {},
): Promise<Person> {
  const path = `/organizations/${organizationGuid}/members`;
  const invited = await app.operate('POST', path, { email, role });
  assert.equal(invited.status, 201, JSON.stringify(invited.body));
  const token = tokenInLink(invited.body.invitation_link);
  const answer = await browse(app, 'POST', '/password', { payload: { token, password: PASSWORD } });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return { ...browserOf(answer), memberGuid: String(invited.body.guid), email, password: PASSWORD };
}

export function logIn(
  app: TestApp,
  { email, password }: { email: string; password: string },
  { code, ...options }: { code?: string; headers?: Record<string, string>; remoteAddress?: string } = {},
): Promise<Answer> {
  const payload = { email, password, ...(code === undefined ? {} : { totp_code: code }) };
  return browse(app, 'POST', '/login', { payload, ...options });
}

/** Gets a user token over HTTP. */
export async function dashboardToken(
  app: TestApp,
  as: Browser,
  organizationGuid: string,
  environment: 'sandbox' | 'production' = 'sandbox',
): Promise<string> {
  const payload = { organization_guid: organizationGuid, environment };
  const { status, body } = await browse(app, 'POST', '/token', { as, payload });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body.access_token);
}
