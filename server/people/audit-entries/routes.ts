import { Readable } from 'node:stream';
import Type, { type Static } from 'typebox';
import type { Audit, AuditFilters, AuditRecord } from '../../infrastructure/audit/service.ts';
import type { Page } from '../../infrastructure/database/paging/paging.ts';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { createdAtFilters, moment, textsFilter, values } from '../../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../../infrastructure/http/requests/paging.ts';
import { answers, strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import { requires, runQueued } from '../../tokens/access/access.ts';
import type { People } from '../members/people.ts';
import { exportCsv } from './export.ts';
import { AuditEntryView, viewAuditEntry } from './schema.ts';

const filters = {
  action: textsFilter('what was done, such as member.invite'),
  actor: textsFilter('a client_id, the guid of a member, operator or portico'),
  object_id: textsFilter('a guid or a client_id'),
  ...createdAtFilters,
};
const CsvStream = Type.Unsafe<Readable>({ type: 'string' });
const AuditEntryFilters = strictObject(filters);

/** For Founders and Key Admins. */
export function registerAuditEntries(
  api: HttpServer,
  { audit, people }: { audit: Audit; people: People },
): void {
  const tags = ['Team'];
  const read = requires(['user'], 'audit_entries:read');

  function emailsOf(records: readonly AuditRecord[]) {
    const guids = records.filter(({ actor_type, actor }) => actor_type === 'user' && isGuid(actor));
    return people.emailsOf(guids.map(({ actor }) => actor));
  }

  api.get(
    '/audit_entries',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'audit_entries.list',
        summary: 'Who did what, on what, from which address, when',
        tags,
        querystring: listQuery(filters),
        response: answers({ 200: listOf(AuditEntryView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const found = await audit.list(page, filtersOf(request.caller.organizationGuid, request.query));
      const emails = await emailsOf(found.rows);
      return envelope(page, found, (record) => viewAuditEntry(record, emails));
    },
  );

  api.get(
    '/audit_entries.csv',
    {
      config: { ...read.config, readsMany: true },
      schema: {
        ...read.documented,
        operationId: 'audit_entries.export',
        summary: 'The newest 50,000 of the same as CSV',
        tags,
        querystring: AuditEntryFilters,
        response: answers({ 200: { content: { 'text/csv': { schema: CsvStream } } } }, 400, 401, 403),
      },
    },
    async (request, reply) => {
      const wanted = filtersOf(request.caller.organizationGuid, request.query);
      const lines = exportCsv(async (page: Page) => {
        const { rows, next } = await runQueued(request, () => audit.walk(page, wanted));
        const emails = await emailsOf(rows);
        return { entries: rows.map((record) => viewAuditEntry(record, emails)), next };
      });
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit-entries.csv"')
        .send(Readable.from(lines));
    },
  );
}

function filtersOf(organizationGuid: string, query: Static<typeof AuditEntryFilters>): AuditFilters {
  return {
    organizationGuid: [organizationGuid],
    action: values(query.action),
    actor: values(query.actor),
    objectId: values(query.object_id),
    createdAtGte: moment(query.created_at_gte),
    createdAtLt: moment(query.created_at_lt),
  };
}
