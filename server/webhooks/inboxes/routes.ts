import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  registerGet,
  registerPatch,
  registerShortList,
} from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, requires, withFeature } from '../../tokens/access/access.ts';
import {
  InboxChanges,
  InboxRequestSummaryView,
  InboxRequestView,
  InboxView,
  NewInbox,
  viewInbox,
  viewRequest,
  viewSummary,
} from './schema.ts';
import type { Inboxes } from './service.ts';

export function registerInboxes(api: HttpServer, { inboxes }: { inboxes: Inboxes }): void {
  const tags = ['Inboxes'];
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));
  const write = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:execute'));

  registerCreate(api, '/inboxes', {
    access: write,
    operationId: 'createInbox',
    summary: 'Create an endpoint that Portico hosts in the sandbox and that shows what it receives',
    tags,
    body: NewInbox,
    item: InboxView,
    view: viewInbox,
    errors: [404],
    create: (request, recordAnswer) =>
      inboxes.create(actorOf(request), request.caller, request.body, recordAnswer),
  });

  registerShortList(api, '/inboxes', {
    access: read,
    operationId: 'listInboxes',
    summary: 'List inboxes, at most 5',
    tags,
    filters: {},
    item: InboxView,
    view: viewInbox,
    list: ({ caller }) => inboxes.list(caller),
  });

  registerGet(api, '/inboxes/:guid', {
    access: read,
    operationId: 'getInbox',
    summary: 'Get an inbox',
    tags,
    item: InboxView,
    view: viewInbox,
    get: ({ caller, params }) => inboxes.find(caller, params.guid),
  });

  registerPatch(api, '/inboxes/:guid', {
    access: write,
    operationId: 'updateInbox',
    summary: 'Rename an inbox, or change how it answers',
    tags,
    body: InboxChanges,
    item: InboxView,
    view: viewInbox,
    change: (request, precondition) => {
      const { caller, params, body } = request;
      return inboxes.update(actorOf(request), caller, params.guid, body, precondition);
    },
  });

  api.delete(
    '/inboxes/:guid',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'deleteInbox',
        summary: 'Delete an inbox with its requests',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      unwrap(await inboxes.remove(actorOf(request), caller, params.guid));
      return reply.code(204).send();
    },
  );

  registerShortList(api, '/inboxes/:guid/requests', {
    access: read,
    operationId: 'listInboxRequests',
    summary: 'List the newest requests of an inbox in the last 24 hours, at most 100',
    tags,
    filters: {},
    params: GuidParams,
    errors: [404],
    item: InboxRequestSummaryView,
    view: viewSummary,
    list: ({ caller, params }) => inboxes.requestsOf(caller, params.guid),
  });

  registerGet(api, '/inbox_requests/:guid', {
    access: read,
    operationId: 'getInboxRequest',
    summary: 'Get a request of an inbox as it arrived',
    tags,
    item: InboxRequestView,
    view: viewRequest,
    get: ({ caller, params }) => inboxes.request(caller, params.guid),
  });
}
