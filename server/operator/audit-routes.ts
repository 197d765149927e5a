import { AuditRecordView, viewAuditRecord } from '../infrastructure/audit/schema.ts';
import type { Audit } from '../infrastructure/audit/service.ts';
import { guidsFilter, textsFilter } from '../infrastructure/http/requests/filters.ts';
import { registerList } from '../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { operatorAccess } from './authentication.ts';

export type AuditDeps = { audit: Audit };

export function registerAuditRoutes(scope: HttpServer, { audit }: AuditDeps): void {
  registerList(scope, '/audit_records', {
    access: operatorAccess('audit-records list'),
    operationId: 'operatorListAuditRecords',
    summary: 'List audit records',
    tags: ['Operator: audit'],
    filters: {
      organization_guid: guidsFilter,
      action: textsFilter('An action, for example bank.create'),
      object_id: textsFilter('A guid or a client_id'),
      actor: textsFilter('A client_id, the guid of a member, operator or portico'),
    },
    item: AuditRecordView,
    view: viewAuditRecord,
    list: (_request, page, filters) => audit.list(page, filters),
  });
}
