import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Organizations } from '../../credentials/organizations/service.ts';
import { readBody } from '../../infrastructure/http/bodies/read-body.ts';
import { FailureError, unwrap } from '../../infrastructure/http/errors.ts';
import { strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { SourceAddress } from '../../infrastructure/http/requests/source-address.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import { ALERT_KINDS } from '../kinds.ts';
import type { AlertPreferences } from '../preferences/preferences.ts';
import type { UnsubscribeLinks } from './unsubscribe.ts';
import { unsubscribePage } from './unsubscribe-page.ts';

/** RFC 8058, section 3.2. */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];
const NONCE_BYTES = 16;
const MAX_TOKEN_CHARACTERS = 256;
const UNSUBSCRIBE_LIMIT = 20;
/** The calls have no token, so they are in no queue of an Organization: a flood with one link must not use the database. */
const PER_MEMBER: RateLimit = {
  name: 'unsubscribe',
  limit: UNSUBSCRIBE_LIMIT,
  windowMs: 5 * 60_000,
  code: 'api_rate_limit_exceeded',
};

type Deps = {
  unsubscribeLinks: UnsubscribeLinks;
  preferences: AlertPreferences;
  organizations: Organizations;
  rateLimits: RateLimits;
  randomBytes: RandomBytes;
  sourceAddress: SourceAddress;
};

/** The link of an email. GET only asks, because mail scanners open links; POST unsubscribes (RFC 8058). */
export async function registerUnsubscribe(server: HttpServer, deps: Deps): Promise<void> {
  const { unsubscribeLinks, preferences, organizations, rateLimits, randomBytes, sourceAddress } = deps;
  const params = strictObject({ token: Type.String({ maxLength: MAX_TOKEN_CHARACTERS }) });
  const options = { schema: { hide: true, params } };

  async function answer(request: FastifyRequest, reply: FastifyReply, isDone: boolean) {
    const { token } = request.params as { token: string };
    const subject = unsubscribeLinks.read(token);
    if (subject) unwrap(await rateLimits.use(PER_MEMBER, subject.memberGuid));
    const organization = subject && (await organizations.get(subject.organizationGuid));
    const isValid = organization !== undefined && !isFailure(organization);
    if (subject && isValid && isDone) {
      const { memberGuid, type, organizationGuid } = subject;
      const source = { address: sourceAddress(request), requestId: request.id };
      const actor = { type: 'user', id: memberGuid, ...source } as const;
      unwrap(await preferences.unsubscribe(actor, { organizationGuid, memberGuid }, type));
    }
    const nonce = Buffer.from(randomBytes(NONCE_BYTES)).toString('base64');
    const page = unsubscribePage({
      nonce,
      state: isValid ? (isDone ? 'done' : 'ask') : 'invalid',
      label: subject ? ALERT_KINDS[subject.type].label : '',
      organizationName: isValid ? organization.name : '',
    });
    return reply
      .code(isValid ? 200 : 404)
      .header(
        'content-security-policy',
        `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      )
      .type('text/html; charset=utf-8')
      .send(page);
  }

  await server.register(async (scope: HttpServer) => {
    scope.addContentTypeParser(FORM_TYPES, (request, payload, done) =>
      readBody({
        ...{ request, payload, pace: scope.bodyPace },
        write: () => undefined,
        done: (failure) => done(failure ? new FailureError(failure) : null, {}),
      }),
    );
    scope.get('/unsubscribe/:token', options, (request, reply) =>
      answer(request as FastifyRequest, reply, false),
    );
    scope.post('/unsubscribe/:token', options, (request, reply) =>
      answer(request as FastifyRequest, reply, true),
    );
  });
}
