import { Readable } from 'node:stream';
import Type from 'typebox';
import type { Audit, AuditRecord } from '../../infrastructure/audit/service.ts';
import type { Page } from '../../infrastructure/database/paging/paging.ts';
import {
  createdAtFilters,
  createFilterReader,
  textsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import { requires, runQueued } from '../../tokens/access/access.ts';
import type { People } from '../members/people.ts';
import { exportCsv } from './export.ts';
import { type AuditEntry, AuditEntryView, viewAuditEntry } from './schema.ts';

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
      config: { ...read.config, readsMany: true },
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
        const { rows, next } = await runQueued(request, () => audit.walk(page, wanted));
        return { entries: await viewEntries(rows), next };
      });
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit-entries.csv"')
        .send(Readable.from(lines));
    },
  );
}
