import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { HttpServer } from '../server.ts';
import { strictObject } from './schemas.ts';

/** A route without query parameters or without a body rejects them, like other unknown fields. */
export function refuseUnknownInput(scope: HttpServer): void {
  scope.addHook('onRoute', ({ schema }) => {
    if (schema && !schema.querystring) schema.querystring = strictObject({});
  });

  scope.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined || request.routeOptions.schema?.body) return done();
    done(new FailureError(new Failure('invalid_parameter', 'This operation accepts no request body')));
  });
}
