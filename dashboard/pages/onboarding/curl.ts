/** In order of preference for the first call. */
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

/** A call that these scopes allow. */
export function firstCall(scopes: readonly string[]): Call | undefined {
  const list = LISTS.find((each) => scopes.includes(`${each}:read`));
  if (list !== undefined) return { scope: `${list}:read`, list };
  const [scope] = scopes;
  return scope === undefined ? undefined : { scope };
}

/** Without a list to read, the command only prints the token. */
export function commandOf(
  { scope, list }: Call,
  { endpoint, api, id, secret }: { endpoint: string; api: string; id: string; secret: string },
): string {
  const request = `curl -s ${endpoint} -u "${id}:${secret}" \\\n  -d grant_type=client_credentials -d scope=${scope}`;
  if (list === undefined) return request;
  const token = `${request} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;
  return `TOKEN=$(${token})\ncurl -s ${api}/${list} -H "Authorization: Bearer $TOKEN"`;
}
