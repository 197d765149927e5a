import { Readable } from 'node:stream';
import Type, { type Static } from 'typebox';
import type { People } from '../../people/members/people.ts';
import { inTurn, requires } from '../../tokens/access/access.ts';
import type { Page } from '../database/paging/paging.ts';
import { unwrap } from '../http/errors.ts';
import { createdAtFilters, moment, textsFilter, values } from '../http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../http/requests/paging.ts';
import { answers, strictObject } from '../http/requests/schemas.ts';
import type { HttpServer } from '../http/server.ts';
import { isGuid } from '../runtime/guid.ts';
import { AuditEntryView, viewAuditEntry } from './entries.ts';
import { exportCsv } from './export.ts';
import type { Audit } from './service.ts';
import type { AuditFilters, AuditRecord } from './store.ts';

const CSV_EXAMPLE = 'created_at,actor_type,actor,actor_email,action\r\n';

const filters = {
  action: textsFilter('An action, for example member.invite'),
  actor: textsFilter('A client_id, the guid of a member, operator or portico'),
  object_id: textsFilter('A guid or a client_id'),
  ...createdAtFilters,
};
const CsvStream = Type.Unsafe<Readable>({ type: 'string', title: 'AuditEntriesCsv', example: CSV_EXAMPLE });
const AuditEntryFilters = strictObject(filters);

/** Who did what in the Organization; for Founders and Key Admins. */
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
        operationId: 'listAuditEntries',
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
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'exportAuditEntries',
        summary: 'The newest 50,000 of the same as CSV',
        tags,
        querystring: AuditEntryFilters,
        response: answers({ 200: { content: { 'text/csv': { schema: CsvStream } } } }, 400, 401, 403),
      },
    },
    async (request, reply) => {
      const wanted = filtersOf(request.caller.organizationGuid, request.query);
      const lines = exportCsv(async (page: Page) => {
        const { rows, next } = await inTurn(request, () => audit.walk(page, wanted));
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
