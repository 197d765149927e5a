import { Readable } from 'node:stream';
import Type from 'typebox';
import type { Page } from '../../infrastructure/database/paging/paging.ts';
import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  createFilterReader,
  textsFilter,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { requires, runQueued } from '../../tokens/access/access.ts';
import { exportCsv } from './export.ts';
import { ACTION_GROUP_NAMES } from './groups.ts';
import type { NameSources } from './names.ts';
import { type AuditEntry, AuditEntryView } from './schema.ts';
import { createAuditEntries } from './service.ts';

const CSV_EXAMPLE = 'created_at,actor_type,actor,actor_email,action\r\n';

const filters = {
  action: textsFilter('An action such as member.invite, or all that begin with a prefix such as member.'),
  action_group: Type.Optional({
    ...wordsFilter,
    description: `A group of actions: ${ACTION_GROUP_NAMES.join(', ')}; or several separated by commas`,
    example: 'keys',
  } as typeof wordsFilter),
  actor: textsFilter('A client_id, the guid of a member, operator or portico'),
  object_id: textsFilter('A guid or a client_id'),
  ...createdAtFilters,
};
const CsvStream = Type.Unsafe<Readable>({ type: 'string', title: 'AuditEntriesCsv', example: CSV_EXAMPLE });
const AuditEntryFilters = strictObject(filters);
const readFilters = createFilterReader(filters);

/** For Founders and Key Admins. */
export function registerAuditEntries(api: HttpServer, sources: NameSources): void {
  const auditEntries = createAuditEntries(sources);
  const tags = ['Team'];
  const read = requires(['user'], 'audit_entries:read');

  registerList(api, '/audit_entries', {
    access: read,
    operationId: 'listAuditEntries',
    summary: 'List audit entries: who did what to which object, from which address, when',
    tags,
    filters,
    item: AuditEntryView,
    view: (entry: AuditEntry) => entry,
    list: ({ caller }, page, wanted) => auditEntries.list(caller.organizationGuid, page, wanted),
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
      const wanted = unwrap(auditEntries.filtersOf(organizationGuid, readFilters(request.query)));
      const lines = exportCsv((page: Page) =>
        runQueued(request, () => auditEntries.walk(organizationGuid, page, wanted)),
      );
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit-entries.csv"')
        .send(Readable.from(lines));
    },
  );
}
