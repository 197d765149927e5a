import type { FastifyRequest } from 'fastify';
import { Failure } from '../../runtime/failure.ts';

/** HTTP/1.1 requires exactly one valid Host (RFC 9112, section 3.2). */
export function failureOfHost({ raw, headers: { host } }: FastifyRequest): Failure | undefined {
  if (host === undefined && raw.httpVersion === '1.0') return undefined;
  if (host !== undefined && host !== '' && URL.canParse(`http://${host}`)) return undefined;
  return new Failure('invalid_parameter', 'Host is required and must be a valid host name');
}
