import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../tokens/access/access.ts';
import { EventView, viewEvent } from './schema.ts';
import type { Events } from './service.ts';

export function registerEvents(api: HttpServer, { events }: { events: Events }): void {
  const tags = ['Events'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.get(
    '/subscription_events',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listEvents',
        summary: 'List the events of the Organization',
        tags,
        querystring: listQuery({
          guid: guidsFilter,
          event_type: wordsFilter,
          bank_guid: guidsFilter,
          object_guid: guidsFilter,
          environment: environmentsFilter,
          ...createdAtFilters,
        }),
        response: answers({ 200: listOf(EventView) }, 400, 401, 403, 422),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const found = unwrap(
        await events.list(caller, page, {
          guid: values(query.guid),
          eventType: values(query.event_type),
          bankGuid: values(query.bank_guid),
          objectGuid: values(query.object_guid),
          environment: values(query.environment),
          createdAtGte: moment(query.created_at_gte),
          createdAtLt: moment(query.created_at_lt),
        }),
      );
      return envelope(page, found, viewEvent);
    },
  );

  api.get(
    '/subscription_events/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getEvent',
        summary: 'Get an event',
        tags,
        params: GuidParams,
        response: answers({ 200: EventView }, 401, 403, 404, 422),
      },
    },
    async (request) => viewEvent(unwrap(await events.get(request.caller, request.params.guid))),
  );
}
