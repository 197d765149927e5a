/** One reason for both cases: separate ones would reveal which names our network resolves. */
const NO_PUBLIC_ADDRESS = 'the host does not resolve to a public address';

/** Reasons shown to partners. Messages of Node and undici are not shown because they contain internal addresses. */
const REASONS: Readonly<Record<string, string>> = {
  ADDRESS_NOT_PUBLIC: NO_PUBLIC_ADDRESS,
  ENOTFOUND: NO_PUBLIC_ADDRESS,
  ENODATA: NO_PUBLIC_ADDRESS,
  EAI_AGAIN: NO_PUBLIC_ADDRESS,
  EAI_FAIL: NO_PUBLIC_ADDRESS,
  ESERVFAIL: NO_PUBLIC_ADDRESS,
  EREFUSED: NO_PUBLIC_ADDRESS,
  EBADNAME: NO_PUBLIC_ADDRESS,
  EBADRESP: NO_PUBLIC_ADDRESS,
  ETIMEOUT: NO_PUBLIC_ADDRESS,
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  ETIMEDOUT: 'the host cannot be reached',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate does not match the host name',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is not from a trusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate is not from a trusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is not from a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is not from a trusted authority',
  EPROTO: 'the TLS handshake failed',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
  RESPONSE_TOO_LARGE: 'the response is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response body does not match its content-length',
  UND_ERR_DESTROYED: 'the service is stopping',
};

export function unreachableReason(error: Error & { code?: string }): string {
  const { name, message, code = '' } = error;
  // undici uses one code for closed connections and for "bad response" and "bad upgrade".
  const isSocketError = code === 'UND_ERR_SOCKET';
  if (name === 'HTTPParserError' || (isSocketError && message.startsWith('bad ')))
    return 'the response is not valid HTTP';
  if (isSocketError) return 'the connection closed before the response was complete';
  if (code.startsWith('ERR_SSL_')) return 'the TLS handshake failed';
  return REASONS[code] ?? 'the exchange failed';
}
