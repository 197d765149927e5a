import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  listFilter,
  METHODS_PATTERN,
  STATUSES_PATTERN,
  textsFilter,
  wordsFilter,
} from '../infrastructure/http/requests/filters.ts';
import { registerList } from '../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { requires } from '../tokens/access/access.ts';
import { type LoggedRequestBody, LoggedRequestView } from './schema.ts';
import type { RequestLog } from './service.ts';

const MAX_VALUES = 20;

const filters = {
  request_id: guidsFilter,
  method: listFilter(METHODS_PATTERN, MAX_VALUES, {
    description: `A method in capitals, or up to ${MAX_VALUES} separated by commas`,
    example: 'POST',
  }),
  path: textsFilter('The pattern of a path, for example /api/transfers/{guid}'),
  status: listFilter(STATUSES_PATTERN, MAX_VALUES, {
    description: `A status such as 404 or a class such as 4xx, or up to ${MAX_VALUES} separated by commas`,
    example: '4xx',
  }),
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
