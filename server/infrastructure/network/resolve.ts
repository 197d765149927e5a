import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a name. It has no time limit of its own: its caller has one. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
/** The name servers know nothing of it, or there are none: the hosts file may. */
const UNKNOWN_TO_NAME_SERVERS: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'ECONNREFUSED',
  'EBADNAME',
]);

/**
 * Asks the name servers directly. The system's resolver would wait in one of the few threads that all of Node's file
 * work shares, so a few names on a dead name server could hold up everybody. It is asked only about names that the
 * name servers do not know: it answers from the hosts file, or as quickly as they just did.
 */
export const systemResolve: Resolve = async (hostname) => {
  const isPlain = !hostname.includes('.');
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const answers = isPlain
    ? []
    : await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  const unexpected = answers.find(
    (answer) => answer.status === 'rejected' && !UNKNOWN_TO_NAME_SERVERS.has(answer.reason.code),
  );
  if (unexpected?.status === 'rejected') throw unexpected.reason;
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
};
