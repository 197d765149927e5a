import Type from 'typebox';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  textsFilter,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { registerList } from '../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { requires } from '../tokens/access/access.ts';
import { type LoggedRequestBody, LoggedRequestView } from './schema.ts';
import type { RequestLog } from './service.ts';

const METHODS = '(GET|HEAD|POST|PATCH|PUT|DELETE)';
const STATUS = '([1-5]\\d\\d|[1-5]xx)';
const MAX_VALUES = 20;

/** One value of a pattern, or several separated by commas. */
function patternFilter(pattern: string, description: string, example: string) {
  return Type.Optional(
    Type.String({
      'x-repeatable': true,
      pattern: `^${pattern}(,${pattern}){0,${MAX_VALUES - 1}}$`,
      description: `${description}, or several separated by commas`,
      example,
    }),
  );
}

const filters = {
  request_id: guidsFilter,
  method: patternFilter(METHODS, 'A method in capitals', 'POST'),
  path: textsFilter('The pattern of a path, for example /api/transfers/{guid}'),
  status: patternFilter(STATUS, 'A status such as 404, or a class such as 4xx', '4xx'),
  message_code: wordsFilter,
  client_id: guidsFilter,
  address: textsFilter('A source address'),
  bank_guid: guidsFilter,
  environment: environmentsFilter,
  ...createdAtFilters,
};

export function registerRequestLog(api: HttpServer, { requestLog }: { requestLog: RequestLog }): void {
  registerList(api, '/request_log', {
    access: requires(['organization', 'bank', 'user'], 'bank_applications:read'),
    operationId: 'listRequests',
    summary: 'List your calls to /api and /oauth of the last 7 days, with their outcome',
    tags: ['Request log'],
    filters,
    item: LoggedRequestView,
    view: (request: LoggedRequestBody) => request,
    list: ({ caller }, page, wanted) => requestLog.list(caller, page, wanted),
  });
}
