import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import type { Resolve } from './resolve.ts';

/** Trying further addresses of one name rarely helps. */
const MAX_ADDRESSES_TRIED = 8;
/** Timeout of an address when others follow. The last one has until the deadline. */
const ADDRESS_ATTEMPT_MS = 1_000;

type Target = Pick<buildConnector.Options, 'hostname' | 'protocol' | 'port'>;

/** Identified by its code, like the errors of Node. */
class OutboundError extends Error {
  readonly code: 'ADDRESS_NOT_PUBLIC' | 'ENOTFOUND';

  constructor(code: OutboundError['code']) {
    super(code);
    this.code = code;
  }
}

/**
 * The only way to connect to addresses that partners choose: undici's connector, restricted to public addresses unless
 * `allowPrivate`. The name is resolved once, every address is checked, and the connection goes to a checked address,
 * which defeats DNS rebinding. One address that is not public rejects the whole name.
 */
export function guardedConnector({
  resolve,
  allowPrivate,
  signal,
  onAddress,
  onSocket,
}: {
  resolve: Resolve;
  allowPrivate: boolean;
  /** Aborts a connection attempt, and closes an established connection. */
  signal: AbortSignal;
  /** Gets the checked addresses before the attempt, and then the one that is connected. */
  onAddress?: (addresses: readonly string[]) => void;
  /** Gets the connected socket. */
  onSocket?: (socket: Socket) => void;
}): buildConnector.connector {
  async function connectChecked(target: Target): Promise<Socket> {
    const { hostname } = target;
    // The URL parser has already converted 0x7f.1 and 2130706433 to dotted decimals (WHATWG URL, section 3.5).
    const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
    if (addresses.length === 0) throw new OutboundError('ENOTFOUND');
    const isAllowed = allowPrivate ? (address: string) => isIP(address) !== 0 : isPublicAddress;
    if (!addresses.every(isAllowed)) throw new OutboundError('ADDRESS_NOT_PUBLIC');
    signal.throwIfAborted();
    const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
    onAddress?.(tried);
    const socket = await connectPinned(target, tried, signal);
    if (socket.remoteAddress !== undefined) onAddress?.([socket.remoteAddress]);
    onSocket?.(socket);
    return socket;
  }

  return (target, callback) => {
    void connectChecked(target).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };
}

/** Tries the addresses in turn, alternating between IPv6 and IPv4 (Node's version of RFC 8305). */
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

/** Certificate and SNI are checked against the name in the URL, whichever address it has. */
function verification(hostname: string) {
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
  const strict = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  // SNI allows neither addresses nor a trailing dot (RFC 6066, section 3).
  return isIP(hostname) === 0 ? { ...strict, servername: hostname.replace(/\.$/, '') } : strict;
}

/** Replaces Node's own lookup of the name. Not called for a host that is an address. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, found);
}
