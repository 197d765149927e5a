/** What a bank key can list, the first that it may read is shown. */
const LISTS = [
  'customers',
  'accounts',
  'transfers',
  'trades',
  'identity_verifications',
  'plans',
  'executions',
  'external_bank_accounts',
  'banks',
] as const;

export type Call = { scope: string; list?: string };

/** A first call that a key with these scopes is not refused; none for a key without any. */
export function firstCall(scopes: readonly string[]): Call | undefined {
  const list = LISTS.find((each) => scopes.includes(`${each}:read`));
  if (list !== undefined) return { scope: `${list}:read`, list };
  const [scope] = scopes;
  return scope === undefined ? undefined : { scope };
}

/** Gets a token and calls with it; where there is nothing to read, the token is what is shown. */
export function commandOf(
  { scope, list }: Call,
  { endpoint, api, id, secret }: { endpoint: string; api: string; id: string; secret: string },
): string {
  const request = `curl -s ${endpoint} -u '${id}:${secret}' \\\n  -d grant_type=client_credentials -d scope=${scope}`;
  if (list === undefined) return request;
  const token = `${request} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;
  return `TOKEN=$(${token})\ncurl -s ${api}/${list} -H "Authorization: Bearer $TOKEN"`;
}
