import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Failure, type Precondition } from '../../runtime/failure.ts';
import { unwrap } from '../errors.ts';
import { includesTag, includesVersion, parseEntityTags } from './entity-tag.ts';

const EXAMPLE = '"Xn2vJ0mZ6sBq8kU1rT4wYc7dLhGfE5aP9iRoNbMxKsQ"';

/** For the OpenAPI document. The service parses the headers itself, to name them in its messages. */
export const IfNoneMatchHeaders = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description:
        'ETags that you have. If the object still has one of them, the response is 304 without a body',
      example: EXAMPLE,
    }),
  ),
});
export const IfMatchHeaders = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description: 'The ETag that you read. If the object has changed since then, the response is 412',
      example: EXAMPLE,
    }),
  ),
});

/** Whether `If-None-Match` has the tag. The header is parsed at once, so that a malformed one costs no query. */
export function readIfNoneMatch({ headers }: FastifyRequest): (tag: string) => boolean {
  const tags = readTags('If-None-Match', headers['if-none-match']);
  return (tag) => tags !== undefined && includesTag(tags, tag);
}

/** The condition of `If-Match` on the current row. */
export function readIfMatch<Row>(
  { headers }: FastifyRequest,
  tagOf: (row: Row) => string,
): Precondition<Row> | undefined {
  const tags = readTags('If-Match', headers['if-match']);
  if (tags === undefined) return undefined;
  return (row) =>
    includesVersion(tags, tagOf(row))
      ? undefined
      : new Failure(
          'precondition_failed',
          'The object does not have the ETag of If-Match; get it again and repeat the change with its new ETag',
        );
}

function readTags(name: string, header: string | undefined): '*' | string[] | undefined {
  if (header === undefined) return undefined;
  const malformed = `${name} must be * or a list of entity tags in double quotes, for example ${EXAMPLE}`;
  return unwrap(parseEntityTags(header) ?? new Failure('invalid_parameter', malformed));
}
