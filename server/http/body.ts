import type { FastifyBodyParser, FastifyInstance } from 'fastify';
import { Failure } from '../runtime/failure.ts';
import { FailureError } from './errors.ts';
import { failureOfBody } from './storable.ts';

/**
 * JSON as the contract wants it: invalid UTF-8 is refused instead of being replaced silently, and an empty
 * body counts as none (many clients send the content type with a bodiless DELETE).
 */
export function registerJsonBody(server: FastifyInstance): void {
  const parseText = server.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>;
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      return done(malformed('The request body is not valid UTF-8'));
    }
    void parseText(request, text, (error, value) => {
      if (error) return done(malformed('The request body is not valid JSON'));
      const failure = failureOfBody(value);
      return failure ? done(new FailureError(failure)) : done(null, value);
    });
  });
}

function malformed(message: string): FailureError {
  return new FailureError(new Failure('malformed_json', message));
}
