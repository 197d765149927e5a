import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a name. The caller limits the time. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
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
