import Type from 'typebox';
import { AuditRecordView, viewAuditRecord } from '../audit/schema.ts';
import type { Audit } from '../audit/service.ts';
import { unwrap } from '../http/errors.ts';
import { envelope, listOf, listQuery, pageOf } from '../http/paging.ts';
import { answers, Guid } from '../http/schemas.ts';
import type { HttpServer } from '../http/server.ts';
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
          organization_guid: Type.Optional(Guid),
          action: Type.Optional(
            Type.String({ maxLength: 512, description: 'one or several, separated by commas' }),
          ),
          object_id: Type.Optional(Type.String({ maxLength: 128 })),
          actor: Type.Optional(
            Type.String({ maxLength: 128, description: 'a client_id or the guid of a member' }),
          ),
        }),
        response: answers({ 200: listOf(AuditRecordView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const { organization_guid: organizationGuid, action, object_id: objectId, actor } = request.query;
      const filters = { organizationGuid, action: action?.split(','), objectId, actor };
      const records = await audit.list(page, filters);
      return envelope(page, records, viewAuditRecord);
    },
  );
}
