import { lookup, Resolver } from 'node:dns/promises';
import { systemTimers, type Timers } from '../runtime/clock.ts';

/** Every address of a name. The caller limits the time. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
/** Some name servers never answer queries for AAAA: without this limit the query would use up the time of the caller. */
export const OTHER_FAMILY_MS = 1_000;
/** Errors after which the hosts file is tried. */
const UNKNOWN_TO_NAME_SERVERS: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'ECONNREFUSED',
  'EBADNAME',
]);

/**
 * Queries the name servers directly. The system's resolver would block one of the few threads for file access, so names
 * on a dead name server could block all of them. It is used only for names that the name servers do not know: it
 * answers from the hosts file, or as quickly as they just did.
 */
export function createResolve({ timers, servers }: { timers: Timers; servers?: readonly string[] }): Resolve {
  /** Once one family has addresses, those of the other are awaited for a short time only (RFC 8305, section 3). */
  async function query(hostname: string): Promise<PromiseSettledResult<string[]>[]> {
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (servers) resolver.setServers(servers);
    const queries = [resolver.resolve4(hostname), resolver.resolve6(hostname)];
    const answers = Promise.allSettled(queries);
    await Promise.any(queries).catch(() => undefined);
    const stopWaiting = timers.after(OTHER_FAMILY_MS, () => resolver.cancel());
    return answers.finally(stopWaiting);
  }

  return async (hostname) => {
    const isPlain = !hostname.includes('.');
    const answers = isPlain ? [] : await query(hostname);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const unexpected = answers.find(
      (answer) => answer.status === 'rejected' && !UNKNOWN_TO_NAME_SERVERS.has(answer.reason.code),
    );
    if (unexpected?.status === 'rejected') throw unexpected.reason;
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  };
}

export const systemResolve: Resolve = createResolve({ timers: systemTimers });
