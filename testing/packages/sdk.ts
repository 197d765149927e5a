import { Portico, type PorticoOptions } from '../../sdk/src/client/portico.ts';
import type { Runtime } from '../../sdk/src/client/runtime.ts';
import { createTestApp, type TestApp } from '../app/app.ts';
import { createTenant, everyScope, type Tenant } from '../app/tenant.ts';
import { listenTo } from '../objects/files.ts';

type SentRequest = { method: string; path: string; headers: Record<string, string>; body: unknown };
/** Answers a request instead of the service; undefined lets it pass. */
type Interception = (
  request: SentRequest,
  nth: number,
) => Response | Error | undefined | Promise<Response | Error | undefined>;

export type SdkService = {
  app: TestApp;
  tenant: Tenant;
  sent: SentRequest[];
  /** For requests from now on. */
  intercept(interception: Interception): void;
  /** A client with every scope of the Organization's key, on the clock of the service. */
  portico(options?: Partial<PorticoOptions>): Portico;
  runtime: Runtime;
  /** Replaces the default address in a link by the real one. */
  local(link: string): string;
};

/** Longer than the pauses of the client, and shorter than its time limits. */
const MIN_TIMEOUT_MS = 20_000;

/** The service on a socket, and clients of the SDK that reach it under its default address. */
export async function createSdkService(app?: TestApp): Promise<SdkService> {
  const service = app ?? (await createTestApp());
  const tenant = await createTenant(service);
  const local = await listenTo(service);
  const sent: SentRequest[] = [];
  let interception: Interception = () => undefined;
  let nth = 0;

  const runtime: Runtime = {
    async fetch(url, init) {
      const { pathname, search } = new URL(url);
      const { method = 'GET', headers, body } = init;
      const request = {
        ...{ method, path: `${pathname}${search}`, headers: headers as Record<string, string> },
        body: typeof body === 'string' ? JSON.parse(body) : body,
      };
      sent.push(request);
      nth += 1;
      const answer = await interception(request, nth);
      if (answer instanceof Error) throw answer;
      return answer ?? fetch(local(url), init);
    },
    now: () => service.clock.now().getTime(),
    // Time limits are on the clock of the service; pauses between attempts are skipped.
    after(ms, action) {
      if (ms >= MIN_TIMEOUT_MS) return service.clock.after(ms, action);
      const pause = setImmediate(action);
      return () => clearImmediate(pause);
    },
    random: () => 0.5,
  };

  return {
    app: service,
    tenant,
    sent,
    runtime,
    local,
    intercept(given) {
      nth = 0;
      interception = given;
    },
    portico: (options = {}) =>
      new Portico(
        {
          clientId: tenant.organizationKey.clientId,
          clientSecret: tenant.organizationKey.secret,
          scopes: everyScope('organization').split(' '),
          ...options,
        } as PorticoOptions,
        runtime,
      ),
  };
}

/** An error body of the service. */
export function errorResponse(
  status: number,
  messageCode: string,
  headers: Record<string, string> = {},
): Response {
  const body = { error: 'error', message_code: messageCode, message: `The code is ${messageCode}` };
  return Response.json(body, { status, headers: { 'x-request-id': 'f'.repeat(32), ...headers } });
}
