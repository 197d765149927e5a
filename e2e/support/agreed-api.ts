import type { Page, Route } from 'playwright-core';
import type { Role } from '../../server/tokens/roles.ts';
import { scopesOfRole } from '../../server/tokens/roles.ts';
import { type Tenant, userToken } from '../../testing/tenant.ts';
import type { Site } from './site.ts';

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> };
type Call = { method: string; path: string; query: URLSearchParams; body: Record<string, unknown> };
export type Handler = (call: Call) => Answer | Promise<Answer> | undefined;

/** A person of this role in this Organization. */
export type Person = { tenant: Tenant; role: Role; features?: string[]; hasTotp?: boolean };

/**
 * Plays the part of the agreed API that this page needs and the server does not have: who is logged in, and
 * whatever `handlers` answer by `METHOD /path`. Tokens are real, and all other calls reach the real server.
 */
export async function playAgreedApi(
  page: Page,
  { app }: Site,
  { tenant, role, features = ['webhooks', 'files'], hasTotp = false }: Person,
  handlers: Record<string, Handler> = {},
): Promise<void> {
  const session = {
    member: {
      guid: 'f'.repeat(32),
      email: 'ada@acme.test',
      name: 'Ada',
      has_totp: hasTotp,
      passkey_count: 0,
    },
    organizations: [{ guid: tenant.organizationGuid, name: 'Acme', live: false, features, role }],
    support_email: 'support@portico.test',
    version: '0.1.0',
    environments: ['sandbox', 'production'],
  };
  let loggedIn = true;
  const own: Record<string, Handler> = {
    'GET /dashboard/session': () => (loggedIn ? { body: session } : refusal(401, 'authentication_failed')),
    'POST /dashboard/login': () => {
      loggedIn = true;
      return { body: session };
    },
    'POST /dashboard/logout': () => {
      loggedIn = false;
      return { status: 204 };
    },
    'POST /dashboard/token': async () => ({
      body: {
        access_token: await userToken(app, tenant.organizationGuid, role),
        token_type: 'Bearer',
        expires_in: 300,
        scope: scopesOfRole(role).join(' '),
        role,
      },
    }),
    'GET /api/banks': async () => {
      const { body } = await app.operate('GET', `/organizations/${tenant.organizationGuid}/banks`);
      return { body };
    },
    ...handlers,
  };
  await page.route(/\/(dashboard|api)\//, (route) => play(route, own));
}

async function play(route: Route, handlers: Record<string, Handler>): Promise<void> {
  const request = route.request();
  const { pathname, searchParams } = new URL(request.url());
  const handler = handlers[`${request.method()} ${pathname}`];
  const body = (request.postDataJSON() ?? {}) as Record<string, unknown>;
  const answer = await handler?.({ method: request.method(), path: pathname, query: searchParams, body });
  if (!answer) return await route.continue();
  await route.fulfill({
    status: answer.status ?? 200,
    headers: { 'content-type': 'application/json', ...answer.headers },
    body: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}),
  });
}

export function refusal(status: number, code: string, message = code): Answer {
  return { status, body: { error: code, message_code: code, message } };
}

export function listOf<Item>(objects: readonly Item[]): Answer {
  return { body: { total: objects.length, page: 0, per_page: 20, objects } };
}
