import type { FastifyBodyParser, FastifyInstance } from 'fastify';
import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { BodyPace } from './body-pace.ts';
import { createJsonScan } from './json/json-scan.ts';
import { createLongText, type LongText, malformed } from './json/long-text.ts';
import { failureOfRepeatedField } from './json/repeated-fields.ts';
import { withoutRoundedNumbers } from './json/rounded-numbers.ts';
import { failureOfPrototypeField } from './prototype-fields.ts';
import { failureOfEncoding, readBody, SMALL_BODY_BYTES } from './read-body.ts';
import { failureOfBody } from './unsupported-characters.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The name of a top-level string field that may have megabytes. `body` has an empty string in its place;
     * `request.longText` has the value.
     */
    longText?: string;
  }
  interface FastifyRequest {
    longText: LongText | undefined;
  }
}

/** Limit for the rest of a body with a long text. */
const MAX_BESIDE_LONG_TEXT_BYTES = 256 * 1024;

/**
 * Rejects invalid UTF-8 instead of replacing it silently. An empty body counts as no body, because many clients send a
 * content type with a DELETE that has none.
 */
export function registerJsonBody(server: FastifyInstance, pace: BodyPace): void {
  const parseText = server.getDefaultJsonParser('ignore', 'ignore') as FastifyBodyParser<string>;
  /** Without fields that could change a prototype: unknown fields of the token endpoints are ignored. */
  const parseOAuth = server.getDefaultJsonParser('remove', 'remove') as FastifyBodyParser<string>;
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
    const { longText, oauth } = request.routeOptions.config;
    const kept: Uint8Array[] = [];
    let keptBytes = 0;
    const scan = createJsonScan((piece) => {
      kept.push(piece);
      keptBytes += piece.length;
    }, longText);

    function write(chunk: Buffer): Failure | undefined {
      const encoded = failureOfEncoding(request);
      if (encoded) return encoded;
      const problem = scan.write(chunk);
      if (problem !== undefined) return new Failure('invalid_parameter', problem);
      if (longText !== undefined && keptBytes > MAX_BESIDE_LONG_TEXT_BYTES)
        return new Failure(
          'payload_too_large',
          `The request body must have at most ${MAX_BESIDE_LONG_TEXT_BYTES} bytes in addition to ${longText}`,
        );
      return undefined;
    }

    function parse(): void {
      const text = textOf(kept.length === 1 ? kept[0] : Buffer.concat(kept, keptBytes));
      if (text === undefined) done(malformed('The request body must be valid UTF-8 without compression'));
      else {
        const exact = scan.hasDecimals() ? withoutRoundedNumbers(text) : text;
        void (oauth ? parseOAuth : parseText)(request, exact, (error, value) => {
          if (error) return done(malformed('The request body must be valid JSON'));
          const failure =
            (oauth ? undefined : failureOfPrototypeField(text, value)) ??
            failureOfRepeatedField(text, value, scan.fieldCount()) ??
            failureOfBody(value);
          if (failure) return done(new FailureError(failure));
          const raw = scan.longText();
          if (raw) request.longText = createLongText(raw);
          done(null, value);
        });
      }
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
