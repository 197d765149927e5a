import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../runtime/failure.ts';
import { FailureError } from '../errors.ts';
import type { HttpServer } from '../server.ts';
import { strictObject } from './schemas.ts';

/**
 * A route without query parameters or without a body rejects them, like other unknown fields. `{}` has no field: many
 * clients send it with a DELETE.
 */
export function refuseUnknownInput(scope: HttpServer): void {
  scope.addHook('onRoute', ({ schema }) => {
    if (schema && !schema.querystring) schema.querystring = strictObject({});
  });

  scope.addHook('preValidation', (request, _reply, done) => {
    const { body, routeOptions } = request;
    if (body === undefined || routeOptions.schema?.body || isEmptyObject(body)) return done();
    done(new FailureError(new Failure('invalid_parameter', 'This operation accepts no request body')));
  });
}

function isEmptyObject(body: unknown): boolean {
  return isDeepStrictEqual(body, {});
}
