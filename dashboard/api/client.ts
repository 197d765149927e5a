import { type ApiError, hasCode } from './api-error.ts';
import { type Query, type Request, send, sendRaw } from './send.ts';
import type { Tenancy, Tokens } from './tokens.ts';

type Options = { query?: Query | undefined; signal?: AbortSignal | undefined };
const UNPROVED = ['proof_required', 'second_factor_required'] as const;
export type Api = ReturnType<typeof createApi>;

/**
 * The API that partners call, with the token of one Organization and environment. A change that needs a fresh proof of
 * the person, or their second factor, goes on once `ask` has got it.
 */
export function createApi(tokens: Tokens, tenancy: Tenancy, ask?: (problem: ApiError) => Promise<void>) {
  /**
   * A token may be taken back at any moment (the role changed, say), and tells of the proofs of before it was issued:
   * once, a new one is asked for.
   */
  async function withToken<Answer>(call: (token: string) => Promise<Answer>): Promise<Answer> {
    try {
      return await call(await tokens.tokenFor(tenancy));
    } catch (error) {
      if (!hasCode(error, 'authentication_failed', ...UNPROVED)) throw error;
      tokens.drop(tenancy);
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
      if (!ask || !hasCode(error, ...UNPROVED)) throw error;
      await ask(error);
      tokens.drop(tenancy);
      return await call<Body>(request);
    }
  }

  return {
    /** For the keys of cached answers: what one tenant sees is never shown to another. */
    key: `${tenancy.organizationGuid}/${tenancy.environment}`,
    get: <Body>(path: string, options: Options = {}) => call<Body>({ method: 'GET', path, ...options }),
    post: <Body>(path: string, body?: object) => change<Body>({ method: 'POST', path, body }),
    patch: <Body>(path: string, body: object) => change<Body>({ method: 'PATCH', path, body }),
    remove: <Body = void>(path: string) => change<Body>({ method: 'DELETE', path }),
    /** The answer itself, for a stream or a file. */
    open: (path: string, options: Options = {}) =>
      withToken((token) => sendRaw({ method: 'GET', path: `/api${path}`, token, ...options })),
  };
}
