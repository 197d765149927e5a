import { AuditRecordView, viewAuditRecord } from '../infrastructure/audit/schema.ts';
import type { Audit } from '../infrastructure/audit/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { guidsFilter, textsFilter, values } from '../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { security } from './authentication.ts';

export type AuditDeps = { audit: Audit };

export function registerAuditRoutes(scope: HttpServer, { audit }: AuditDeps): void {
  scope.get(
    '/audit_records',
    {
      schema: {
        operationId: 'operator.audit_records.list',
        summary: 'Who did what, on what, from which address, when',
        tags: ['Operator: audit'],
        security,
        querystring: listQuery({
          organization_guid: guidsFilter,
          action: textsFilter('what was done, such as bank.create'),
          object_id: textsFilter('a guid or a client_id'),
          actor: textsFilter('a client_id, the guid of a member, operator or portico'),
        }),
        response: answers({ 200: listOf(AuditRecordView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const { query } = request;
      const filters = {
        organizationGuid: values(query.organization_guid),
        action: values(query.action),
        objectId: values(query.object_id),
        actor: values(query.actor),
      };
      const records = await audit.list(page, filters);
      return envelope(page, records, viewAuditRecord);
    },
  );
}
