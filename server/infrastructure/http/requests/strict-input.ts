import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { HttpServer } from '../server.ts';
import { strictObject } from './schemas.ts';

/** A route that takes no query parameters, or no body, refuses any, like every other unknown field. */
export function refuseUnknownInput(scope: HttpServer): void {
  scope.addHook('onRoute', ({ schema }) => {
    if (schema && !schema.querystring) schema.querystring = strictObject({});
  });

  scope.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined || request.routeOptions.schema?.body) return done();
    done(
      new FailureError(
        new Failure('invalid_parameter', 'The request body is not a parameter of this operation'),
      ),
    );
  });
}
