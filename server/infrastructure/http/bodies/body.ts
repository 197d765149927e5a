import type { FastifyBodyParser, FastifyInstance } from 'fastify';
import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { BodyPace } from './body-pace.ts';
import { createJsonScan } from './json-scan.ts';
import { createLongText, type LongText } from './long-text.ts';
import { readBody, SMALL_BODY_BYTES } from './read-body.ts';
import { failureOfBody } from './storable.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A top-level text that may be megabytes: `body` has an empty one, and `request.longText` what was sent. */
    longText?: string;
  }
  interface FastifyRequest {
    longText: LongText | undefined;
  }
}

/** Of a body with a long text, everything else. */
const MAX_BESIDE_LONG_TEXT_BYTES = 256 * 1024;

/**
 * JSON as the contract wants it: invalid UTF-8 is refused instead of being replaced silently, and an empty
 * body counts as none (many clients send the content type with a bodiless DELETE).
 */
export function registerJsonBody(server: FastifyInstance, pace: BodyPace): void {
  const parseText = server.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>;
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  server.decorateRequest('longText');

  function textOf(bytes: Uint8Array | undefined): string | undefined {
    try {
      return utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', (request, payload, done) => {
    const { longText } = request.routeOptions.config;
    const kept: Uint8Array[] = [];
    let keptBytes = 0;
    const scan = createJsonScan((piece) => {
      kept.push(piece);
      keptBytes += piece.length;
    }, longText);

    function write(chunk: Buffer): Failure | undefined {
      const problem = scan.write(chunk);
      if (problem !== undefined) return new Failure('invalid_parameter', problem);
      if (longText !== undefined && keptBytes > MAX_BESIDE_LONG_TEXT_BYTES)
        return new Failure('payload_too_large', `The request body is too large beside ${longText}`);
      return undefined;
    }

    function parse(): void {
      const text = textOf(kept.length === 1 ? kept[0] : Buffer.concat(kept, keptBytes));
      if (text === undefined) done(malformed('The request body is not valid UTF-8'));
      else
        void parseText(request, text, (error, value) => {
          if (error) return done(malformed('The request body is not valid JSON'));
          const failure = failureOfBody(value);
          if (failure) return done(new FailureError(failure));
          const raw = scan.longText();
          if (raw) request.longText = createLongText(raw);
          done(null, value);
        });
    }

    readBody({
      ...{ request, payload, pace, write },
      done(failure, bytes) {
        if (failure) done(new FailureError(failure));
        else if (bytes === 0) done(null, undefined);
        else if (bytes <= SMALL_BODY_BYTES) parse();
        else pace.parse(keptBytes, parse);
      },
    });
  });
}

function malformed(message: string): FailureError {
  return new FailureError(new Failure('malformed_json', message));
}
