import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { HttpServer } from '../server.ts';
import type { BodyPace } from './body-pace.ts';
import { failureOfEncoding, readBody } from './read-body.ts';
import { failureOfBody } from './unsupported-characters.ts';

/** More than any client of the token endpoints sends. Unknown parameters are ignored (RFC 6749, section 3.2). */
const MAX_PARAMETERS = 100;
const AMPERSAND = 0x26;

/** Form bodies of the token endpoints. A parameter must not be repeated (RFC 6749, section 3.2). */
export function registerFormBody(scope: HttpServer, pace: BodyPace): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });

  scope.addContentTypeParser('application/x-www-form-urlencoded', (request, payload, done) => {
    const chunks: Buffer[] = [];
    readBody({
      ...{ request, payload, pace },
      write(chunk) {
        chunks.push(chunk);
        return failureOfEncoding(request);
      },
      done(failure) {
        const result = failure ?? parametersOf(Buffer.concat(chunks), utf8);
        if (result instanceof Failure) done(new FailureError(result));
        else done(null, result);
      },
    });
  });
}

export function parametersOf(
  body: Uint8Array,
  utf8 = new TextDecoder('utf-8', { fatal: true }),
): Record<string, string> | Failure {
  if (exceeds(body, MAX_PARAMETERS))
    return refused(`The request body must have at most ${MAX_PARAMETERS} parameters`);
  let form: URLSearchParams;
  try {
    form = new URLSearchParams(utf8.decode(body));
  } catch {
    return refused('The request body must be valid UTF-8 without compression');
  }
  const parameters = new Map<string, string>();
  for (const [name, value] of form) {
    if (parameters.has(name)) return refused('Each parameter may be sent only once');
    parameters.set(name, value);
  }
  // RFC 6749, section 3.2: "Parameters sent without a value MUST be treated as if they were omitted."
  const given = Object.fromEntries(parameters.entries().filter(([, value]) => value !== ''));
  return failureOfBody(given) ?? given;
}

/** Counts before the body is decoded; empty parameters between two ampersands count as well. */
function exceeds(body: Uint8Array, most: number): boolean {
  let count = 1;
  for (let at = body.indexOf(AMPERSAND); at !== -1; at = body.indexOf(AMPERSAND, at + 1)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

function refused(message: string): Failure {
  return new Failure('invalid_request', message);
}
