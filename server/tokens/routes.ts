import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Client } from '../credentials/applications/service.ts';
import { registerFormBody } from '../infrastructure/http/bodies/form-body.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { countRefusals } from '../infrastructure/http/limits/counted-refusals.ts';
import { oauthAnswers, viewSchema } from '../infrastructure/http/requests/schemas.ts';
import type { SourceAddress } from '../infrastructure/http/requests/source-address.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { isGuid } from '../infrastructure/runtime/guid.ts';
import { logRequests } from '../request-log/hook.ts';
import type { RequestRecorder } from '../request-log/recorder.ts';
import { requires } from './access/access.ts';
import type { CustomerTokens } from './customer-tokens/customer-tokens.ts';
import type { ClientAuthentication } from './issuing/client-authentication.ts';
import type { Environments } from './issuing/environments.ts';
import type { Issuance } from './issuing/issuance.ts';
import { type ClientCredentials, readCredentials } from './issuing/token-request.ts';
import {
  type ClientCredentialsBody,
  CustomerTokenBody,
  IntrospectionView,
  NewCustomerToken,
  SourceAddressView,
  TokenBody,
  TokenQuestionBody,
  TokenView,
} from './schema.ts';
import type { Introspection } from './verifying/introspection.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every request counts against the rate limits, not only wrong secrets. */
    countsCalls?: boolean;
  }
}

export type OAuthDeps = {
  authentication: ClientAuthentication;
  issuance: Issuance;
  customerTokens: CustomerTokens;
  introspection: Introspection;
  environments: Environments;
  sourceAddress: SourceAddress;
  requestRecorder: RequestRecorder;
};

type CredentialsRequest = FastifyRequest & { body: Static<typeof ClientCredentialsBody> };

const consumes = ['application/json', 'application/x-www-form-urlencoded'];
const tags = ['Tokens'];
const security = [{ clientCredentials: [] }, {}];

/** OAuth endpoints. They accept JSON and forms, and client credentials in the body or by HTTP Basic. */
export async function registerOAuth(server: HttpServer, deps: OAuthDeps): Promise<void> {
  await server.register(
    async (scope: HttpServer) => {
      registerFormBody(scope, scope.bodyPace);
      scope.decorateRequest('identity');
      scope.decorateRequest('sourceAddress');
      logRequests(scope, deps.requestRecorder);
      countRefusedBodies(scope, deps);
      registerIssuance(scope, deps);
      registerTokenInspection(scope, deps);
    },
    { prefix: '/oauth' },
  );
}

function countRefusedBodies(scope: HttpServer, { authentication, sourceAddress }: OAuthDeps): void {
  const kindOf = ({ routeOptions }: FastifyRequest) => (routeOptions.config.countsCalls ? 'token' : 'secret');
  countRefusals(scope, {
    blocked: (request) => authentication.blockedAddress(kindOf(request), sourceAddress(request)),
    count: (request) => authentication.countRefused(kindOf(request), sourceAddress(request)),
  });
}

function contextOf(request: FastifyRequest, { environments, sourceAddress }: OAuthDeps) {
  return {
    environment: environments.ofHost(request.headers.host),
    address: sourceAddress(request),
    requestId: request.id,
  };
}

/** From here on the authentication of the client counts the request. */
function credentialsOf(request: CredentialsRequest, deps: OAuthDeps): ClientCredentials {
  const credentials = unwrap(readCredentials(request, request.body));
  request.refusalCounts = false;
  const { clientId: id } = credentials;
  // The Organization is looked up when the log is written, so that the response time does not depend on it.
  if (isGuid(id)) {
    const { environment, address } = contextOf(request, deps);
    request.identity = { type: undefined, id, organizationGuid: undefined, bankGuid: undefined, environment };
    request.sourceAddress = address;
  }
  return credentials;
}

function registerIssuance(scope: HttpServer, deps: OAuthDeps): void {
  const { issuance, customerTokens } = deps;
  const config = { oauth: true };

  scope.post(
    '/token',
    {
      config: { ...config, countsCalls: true },
      schema: {
        operationId: 'createToken',
        summary: 'Issue an access token with the client credentials grant',
        tags,
        security,
        consumes,
        body: TokenBody,
        response: oauthAnswers({ 200: TokenView }, 400, 401, 403, 413, 415),
      },
    },
    async (request) => {
      const { body } = request;
      const credentials = credentialsOf(request, deps);
      return unwrap(await issuance.issueToken({ body, credentials, ...contextOf(request, deps) }));
    },
  );

  scope.post(
    '/customer_token',
    {
      config,
      schema: {
        operationId: 'issueCustomerToken',
        summary: 'Issue a customer token with the key pair of its bank or Organization',
        tags,
        security,
        consumes,
        body: CustomerTokenBody,
        response: oauthAnswers({ 200: TokenView }, 400, 401, 403, 413, 415, 422),
      },
    },
    async (request) => {
      const { body } = request;
      const credentials = credentialsOf(request, deps);
      return unwrap(await customerTokens.issueBySecret({ body, credentials, ...contextOf(request, deps) }));
    },
  );
}

function registerTokenInspection(scope: HttpServer, deps: OAuthDeps): void {
  const { authentication, introspection, sourceAddress } = deps;
  const config = { oauth: true };

  async function authenticate(request: CredentialsRequest): Promise<Client> {
    const credentials = credentialsOf(request, deps);
    const { environment, ...source } = contextOf(request, deps);
    const context = { ...source, path: request.routeOptions.url ?? '' };
    const client = unwrap(await authentication.authenticateCountingFailures(credentials, context));
    return unwrap(authentication.checkEnvironment(client, environment, context) ?? client);
  }

  // Public: a partner outside of its allowlist needs it most.
  scope.get(
    '/source_address',
    {
      config,
      schema: {
        operationId: 'getSourceAddress',
        summary: 'Get the address that allowlists compare: that of this request',
        tags,
        response: oauthAnswers({ 200: SourceAddressView }, 400),
      },
    },
    async (request) => {
      const address = sourceAddress(request);
      return address === undefined ? {} : { address };
    },
  );

  scope.post(
    '/introspect',
    {
      config,
      schema: {
        operationId: 'introspectToken',
        summary: 'Introspect a token (RFC 7662)',
        tags,
        security,
        consumes,
        body: TokenQuestionBody,
        response: oauthAnswers({ 200: IntrospectionView }, 400, 401, 403, 413, 415),
      },
    },
    async (request) => {
      const client = await authenticate(request);
      return introspection.introspect(client, contextOf(request, deps).environment, request.body.token);
    },
  );

  scope.post(
    '/revoke',
    {
      config,
      schema: {
        operationId: 'revokeToken',
        summary: 'Revoke a token on every node, effective immediately (RFC 7009)',
        tags,
        security,
        consumes,
        body: TokenQuestionBody,
        response: oauthAnswers({ 200: viewSchema('EmptyResponse', {}) }, 400, 401, 403, 413, 415),
      },
    },
    async (request) => {
      const client = await authenticate(request);
      const { address, requestId } = contextOf(request, deps);
      const actor = { type: 'application', id: client.client_id, address, requestId } as const;
      unwrap(await introspection.revoke(actor, client, request.body.token));
      return {};
    },
  );
}

export function registerCustomerTokens(
  api: HttpServer,
  { customerTokens }: { customerTokens: CustomerTokens },
): void {
  const access = requires(['organization', 'bank'], 'customers:read', 'customers:write');
  registerCreate(api, '/customer_tokens', {
    access,
    operationId: 'createCustomerToken',
    summary: 'Issue a customer token',
    tags,
    body: NewCustomerToken,
    item: TokenView,
    view: (token: Static<typeof TokenView>) => token,
    showsSecret: true,
    create: ({ caller, body }, recordAnswer) => customerTokens.issueByToken(caller, body, recordAnswer),
  });
}
