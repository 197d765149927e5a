/** Audit record of a change to an account: its name, password, second factors or sessions. */
export function accountChange(
  action: `${'account' | 'session'}.${string}`,
  memberGuid: string,
  changes: Record<string, unknown> = {},
) {
  return { action, objectType: 'account', objectId: memberGuid, changes };
}
