import type { Clients } from '../credentials/applications/clients.ts';
import type { Queries } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import { errorStatuses } from '../infrastructure/http/errors.ts';
import type { People } from '../people/members/people.ts';
import type { Caller } from '../tokens/verifying/verifier.ts';
import { visibleEnvironments } from '../webhooks/visible.ts';
import { type LoggedRequestBody, viewLoggedRequest } from './schema.ts';
import { type LoggedRequest, type RequestFilters, selectRequest, selectRequests } from './store.ts';

/** Reads the calls of an Organization in the last days. */
export type RequestLog = ReturnType<typeof createRequestLog>;

/** Filters of the list: classes of statuses besides statuses. */
export type ListFilters = Omit<RequestFilters, 'status'> & {
  status?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
};

/** Statuses of responses that are no errors. */
const OTHER_STATUSES = [200, 201, 202, 204, 206, 304];

export function createRequestLog({
  queries,
  clients,
  people,
}: {
  queries: Queries;
  clients: Pick<Clients, 'find'>;
  people: Pick<People, 'emailsOf'>;
}) {
  async function namesOf(
    organizationGuid: string,
    ids: readonly (string | null)[],
  ): Promise<Map<string, string>> {
    const known = new Set(ids.filter((id) => id !== null));
    const found = await Promise.all([...known].map((id) => clients.find(id)));
    const own = found.flatMap((client) => (client?.organization_guid === organizationGuid ? [client] : []));
    return new Map(own.map(({ client_id: id, name }) => [id, name]));
  }

  /** Email addresses are shown to people only, as in the list of members. */
  async function viewed(caller: Caller, rows: readonly LoggedRequest[]): Promise<LoggedRequestBody[]> {
    const members = rows.flatMap(({ member_guid: guid }) => (guid === null ? [] : [guid]));
    const names = {
      applications: await namesOf(
        caller.organizationGuid,
        rows.map(({ client_id: id }) => id),
      ),
      emails: await people.emailsOf(caller.type === 'user' ? members : []),
    };
    return rows.map((row) => viewLoggedRequest(row, names));
  }

  return {
    async list(caller: Caller, page: Page, filters: ListFilters): Promise<PageOf<LoggedRequestBody>> {
      const { environment, bankGuid, status, ...rest } = filters;
      const environments = visibleEnvironments(caller, environment);
      const visible = {
        organizationGuid: caller.organizationGuid,
        // Calls with a token of both environments belong to each.
        environments: environments.length === 0 ? [] : [...environments, 'both' as const],
        bankGuid: caller.type === 'bank' ? [caller.bankGuid ?? ''] : bankGuid,
      };
      const found = await selectRequests(queries, visible, page, {
        ...rest,
        status: status && statusesOf(status),
      });
      return { ...found, rows: await viewed(caller, found.rows) };
    },

    /** In either environment. */
    find: (organizationGuid: string, requestId: string) =>
      selectRequest(queries, organizationGuid, requestId),
  };
}

/** `4xx` as all statuses of that class. */
function statusesOf(values: readonly string[]): number[] {
  const known = [...OTHER_STATUSES, ...errorStatuses()];
  return values.flatMap((value) =>
    value.endsWith('xx')
      ? known.filter((status) => String(status).startsWith(value.slice(0, 1)))
      : [Number(value)],
  );
}
