import { type ApiError, hasCode } from './api-error.ts';
import { type Query, type Request, send, sendRaw } from './send.ts';
import type { Tenancy, TokenSource } from './tokens.ts';

type Options = { query?: Query | undefined; signal?: AbortSignal | undefined };
const PROOF_CODES = ['proof_required', 'second_factor_required'] as const;
export type Api = ReturnType<typeof createApi>;

/**
 * The partner API, called with the user token of one Organization and environment. `requestProof` asks the user to
 * confirm their identity; the call is then repeated.
 */
export function createApi(
  tokens: TokenSource,
  tenancy: Tenancy,
  requestProof?: (error: ApiError) => Promise<void>,
) {
  /** A token may be revoked early (a role change), or predate the last proof: retry once with a new one. */
  async function withToken<Result>(call: (token: string) => Promise<Result>): Promise<Result> {
    try {
      return await call(await tokens.tokenFor(tenancy));
    } catch (error) {
      if (!hasCode(error, 'authentication_failed', ...PROOF_CODES)) throw error;
      tokens.invalidate(tenancy);
      return await call(await tokens.tokenFor(tenancy));
    }
  }

  function call<Body>(request: Omit<Request, 'token'>): Promise<Body> {
    return withToken((token) => send<Body>({ ...request, path: `/api${request.path}`, token }));
  }

  async function change<Body>(request: Omit<Request, 'token'>): Promise<Body> {
    try {
      return await call<Body>(request);
    } catch (error) {
      if (!requestProof || !hasCode(error, ...PROOF_CODES)) throw error;
      await requestProof(error);
      tokens.invalidate(tenancy);
      return await call<Body>(request);
    }
  }

  return {
    /** First part of every query key, so that cached data never crosses tenants. */
    key: `${tenancy.organizationGuid}/${tenancy.environment}`,
    get: <Body>(path: string, options: Options = {}) => call<Body>({ method: 'GET', path, ...options }),
    post: <Body>(path: string, body?: object) => change<Body>({ method: 'POST', path, body }),
    patch: <Body>(path: string, body: object) => change<Body>({ method: 'PATCH', path, body }),
    remove: <Body = void>(path: string) => change<Body>({ method: 'DELETE', path }),
    /** The raw response, for streams and files. */
    open: (path: string, options: Options = {}) =>
      withToken((token) => sendRaw({ method: 'GET', path: `/api${path}`, token, ...options })),
  };
}
