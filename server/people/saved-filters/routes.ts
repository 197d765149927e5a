import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { bySession } from '../login/sessions/guard.ts';
import {
  NewSavedFilter,
  SavedFilterListView,
  SavedFilterQuery,
  SavedFilterView,
  viewSavedFilter,
} from './schema.ts';
import type { SavedFilters } from './service.ts';

const tags = ['Dashboard'];

export function registerSavedFilters(dashboard: HttpServer, savedFilters: SavedFilters): void {
  dashboard.get(
    '/account/saved_filters',
    {
      schema: {
        ...bySession,
        operationId: 'listSavedFilters',
        summary: 'List your saved filters, at most 200; all those of one Organization',
        tags,
        querystring: SavedFilterQuery,
        response: answers({ 200: SavedFilterListView }, 401, 403),
      },
    },
    async ({ session, query }) => {
      const owner = { organizationGuid: query.organization_guid, memberGuid: session.member_guid };
      return { objects: (await savedFilters.list(owner)).map(viewSavedFilter) };
    },
  );

  dashboard.post(
    '/account/saved_filters',
    {
      schema: {
        ...bySession,
        operationId: 'saveFilter',
        summary: 'Save the filters of a list under a name; filters of the same name are replaced',
        tags,
        body: NewSavedFilter,
        response: answers({ 201: SavedFilterView }, 401, 403, 404, 413, 415, 422, 503),
      },
    },
    async ({ session, body }, reply) =>
      reply.code(201).send(viewSavedFilter(unwrap(await savedFilters.save(session.member_guid, body)))),
  );

  dashboard.delete(
    '/account/saved_filters/:guid',
    {
      schema: {
        ...bySession,
        operationId: 'deleteSavedFilter',
        summary: 'Delete a saved filter',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415, 503),
      },
    },
    async ({ session, params }, reply) => {
      unwrap(await savedFilters.remove(session.member_guid, params.guid));
      return reply.code(204).send();
    },
  );
}
