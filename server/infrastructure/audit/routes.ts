import { Readable } from 'node:stream';
import Type from 'typebox';
import type { People } from '../../people/members/people.ts';
import { inTurn, requires } from '../../tokens/access/access.ts';
import type { Page } from '../database/paging/paging.ts';
import { createdAtFilters, createFilterReader, textsFilter } from '../http/requests/filters.ts';
import { registerList } from '../http/requests/resource-routes.ts';
import { answers, strictObject } from '../http/requests/schemas.ts';
import type { HttpServer } from '../http/server.ts';
import { isGuid } from '../runtime/guid.ts';
import { type AuditEntry, AuditEntryView, viewAuditEntry } from './entries.ts';
import { exportCsv } from './export.ts';
import type { Audit } from './service.ts';
import type { AuditRecord } from './store.ts';

const CSV_EXAMPLE = 'created_at,actor_type,actor,actor_email,action\r\n';

const filters = {
  action: textsFilter('An action, for example member.invite'),
  actor: textsFilter('A client_id, the guid of a member, operator or portico'),
  object_id: textsFilter('A guid or a client_id'),
  ...createdAtFilters,
};
const CsvStream = Type.Unsafe<Readable>({ type: 'string', title: 'AuditEntriesCsv', example: CSV_EXAMPLE });
const AuditEntryFilters = strictObject(filters);
const readFilters = createFilterReader(filters);

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

  async function viewEntries(records: readonly AuditRecord[]) {
    const emails = await emailsOf(records);
    return records.map((record) => viewAuditEntry(record, emails));
  }

  registerList(api, '/audit_entries', {
    access: read,
    operationId: 'listAuditEntries',
    summary: 'List audit entries: who did what to which object, from which address, when',
    tags,
    filters,
    item: AuditEntryView,
    view: (entry: AuditEntry) => entry,
    async list({ caller }, page, wanted) {
      const found = await audit.list(page, { organizationGuid: [caller.organizationGuid], ...wanted });
      return { ...found, rows: await viewEntries(found.rows) };
    },
  });

  api.get(
    '/audit_entries.csv',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'exportAuditEntries',
        summary: 'Export the newest 50,000 audit entries as CSV',
        tags,
        querystring: AuditEntryFilters,
        response: answers({ 200: { content: { 'text/csv': { schema: CsvStream } } } }, 400, 401, 403),
      },
    },
    async (request, reply) => {
      const { organizationGuid } = request.caller;
      const wanted = { organizationGuid: [organizationGuid], ...readFilters(request.query) };
      const lines = exportCsv(async (page: Page) => {
        const { rows, next } = await inTurn(request, () => audit.walk(page, wanted));
        return { entries: await viewEntries(rows), next };
      });
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit-entries.csv"')
        .send(Readable.from(lines));
    },
  );
}
