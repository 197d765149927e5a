import type { AuditFilters, AuditRecord } from '../../infrastructure/audit/service.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { knownValues } from '../../infrastructure/http/requests/filters.ts';
import { type Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { ACTION_GROUP_NAMES, ACTION_GROUPS } from './groups.ts';
import { type NameSources, namesOfRecords } from './names.ts';
import { type AuditEntry, viewAuditEntry } from './schema.ts';

type EntryFilters = Omit<AuditFilters, 'organizationGuid'> & {
  actionGroup?: readonly string[] | undefined;
};

export function createAuditEntries(sources: NameSources) {
  const { audit } = sources;

  async function viewEntries(organizationGuid: string, records: readonly AuditRecord[]) {
    const nameOf = await namesOfRecords(sources, organizationGuid, records);
    return records.map((record) => viewAuditEntry(record, nameOf(record)));
  }

  function filtersOf(organizationGuid: string, wanted: EntryFilters): AuditFilters | Failure {
    const { actionGroup, action, ...others } = wanted;
    const groups = knownValues('action_group', actionGroup, ACTION_GROUP_NAMES);
    if (isFailure(groups)) return groups;
    const prefixes = groups?.flatMap((name) => [...ACTION_GROUPS[name]]);
    const actions = action && prefixes ? common(action, prefixes) : (action ?? prefixes);
    return { organizationGuid: [organizationGuid], ...others, action: actions };
  }

  return {
    filtersOf,

    async list(
      organizationGuid: string,
      page: Page,
      wanted: EntryFilters,
    ): Promise<PageOf<AuditEntry> | Failure> {
      const filters = filtersOf(organizationGuid, wanted);
      if (isFailure(filters)) return filters;
      const found = await audit.list(page, filters);
      return { ...found, rows: await viewEntries(organizationGuid, found.rows) };
    },

    /** Keyset iteration without a total. */
    async walk(organizationGuid: string, page: Page, filters: AuditFilters) {
      const { rows, next } = await audit.walk(page, filters);
      return { entries: await viewEntries(organizationGuid, rows), next };
    },
  };
}

/** Actions and prefixes that are in both lists: of two prefixes the longer one. */
function common(actions: readonly string[], prefixes: readonly string[]): string[] {
  return actions.flatMap((action) =>
    prefixes.flatMap((prefix) => {
      if (action.startsWith(prefix)) return [action];
      return action.endsWith('.') && prefix.startsWith(action) ? [prefix] : [];
    }),
  );
}
