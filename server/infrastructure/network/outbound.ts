import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import type { Resolve } from './resolve.ts';

/** A name that answers with more is not reached better by trying them all. */
const MAX_ADDRESSES_TRIED = 8;
/** How long one of several addresses may keep the others waiting. The last one has until the deadline. */
const ADDRESS_ATTEMPT_MS = 1_000;

type Target = Pick<buildConnector.Options, 'hostname' | 'protocol' | 'port'>;

/** Told apart by its code, like the errors of Node. */
class OutboundError extends Error {
  readonly code: 'ADDRESS_NOT_PUBLIC' | 'ENOTFOUND';

  constructor(code: OutboundError['code']) {
    super(code);
    this.code = code;
  }
}

/**
 * The only way out to addresses that partners choose: undici's connector, which reaches public addresses
 * only, unless `allowPrivate`. The name is resolved once, every address is checked, and the connection
 * goes to one that was checked: a name that resolves to another address a moment later (DNS rebinding)
 * gains nothing. One address that is not public refuses the whole name, because no honest name has it.
 */
export function guardedConnector({
  resolve,
  allowPrivate,
  signal,
}: {
  resolve: Resolve;
  allowPrivate: boolean;
  /** Gives up what is on its way, and ends what has been connected. */
  signal: AbortSignal;
}): buildConnector.connector {
  async function connectChecked(target: Target): Promise<Socket> {
    const { hostname } = target;
    // The URL parser has already made dotted decimals of 0x7f.1 and 2130706433 (WHATWG URL, 3.5).
    const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
    if (addresses.length === 0) throw new OutboundError('ENOTFOUND');
    const isAllowed = allowPrivate ? (address: string) => isIP(address) !== 0 : isPublicAddress;
    if (!addresses.every(isAllowed)) throw new OutboundError('ADDRESS_NOT_PUBLIC');
    signal.throwIfAborted();
    return await connectPinned(target, addresses.slice(0, MAX_ADDRESSES_TRIED), signal);
  }

  return (target, callback) => {
    void connectChecked(target).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };
}

/** Tries the addresses in turn, those of IPv6 and IPv4 alternating (RFC 8305, in Node's version of it). */
function connectPinned(
  { hostname, protocol, port }: Target,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  const secure = protocol === 'https:';
  const route = {
    host: hostname,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    lookup: pinnedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    noDelay: true,
  };
  const socket = secure ? connectTls({ ...route, ...verification(hostname) }) : connect(route);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once(secure ? 'secureConnect' : 'connect', () => resolve(socket)).on('error', reject);
  signal.addEventListener('abort', () => socket.destroy(signal.reason), { once: true });
  return promise;
}

/** Certificate and SNI are about the name in the URL, whichever address it has. */
function verification(hostname: string) {
  // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot switch it off for people's money.
  const strict = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  // SNI has neither addresses nor a trailing dot (RFC 6066, 3).
  return isIP(hostname) === 0 ? { ...strict, servername: hostname.replace(/\.$/, '') } : strict;
}

/** Stands where Node would resolve the name itself. Not called for a host that is an address. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, found);
}
