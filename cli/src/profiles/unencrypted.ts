import { BlockList, isIP } from 'node:net';

/** Whether the client secret would be readable on the way: plain http to another machine. */
export function isUnencrypted(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

function isLoopback(host: string): boolean {
  const version = isIP(host);
  // RFC 6761, section 6.3.
  if (version === 0) return host === 'localhost' || host.endsWith('.localhost');
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
