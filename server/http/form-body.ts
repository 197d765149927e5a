import { Failure } from '../runtime/failure.ts';
import { FailureError } from './errors.ts';
import type { HttpServer } from './server.ts';
import { failureOfBody } from './storable.ts';

/** Forms, for the token endpoints. A parameter may appear once only (RFC 6749, section 3.2). */
export function registerFormBody(scope: HttpServer): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });

  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      let form: URLSearchParams;
      try {
        form = new URLSearchParams(utf8.decode(body as Buffer));
      } catch {
        return done(refused('The request body is not valid UTF-8'));
      }
      const names = [...form.keys()];
      const repeated = names.find((name, index) => names.indexOf(name) !== index);
      if (repeated !== undefined) return done(refused('A parameter must not be repeated'));
      // RFC 6749, section 3.2: "Parameters sent without a value MUST be treated as if they were omitted."
      const parameters = Object.fromEntries([...form].filter(([, value]) => value !== ''));
      const failure = failureOfBody(parameters);
      if (failure) done(new FailureError(failure));
      else done(null, parameters);
    },
  );
}

function refused(message: string): FailureError {
  return new FailureError(new Failure('invalid_request', message));
}
