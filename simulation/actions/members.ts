import type { MemberEnding } from '../agenda/part-actions.ts';
import type { Tenant } from '../world/model.ts';
import type { CallResult, Node } from '../world/node.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk } from './calls.ts';

const PASSWORD = 'correct horse battery staple';
const isAccepted = (result: CallResult) => result !== 'lost' && result.status < 400;

/**
 * Invariant 6: a member joins, uses the dashboard and the API at every node, and is removed or logs out. After the
 * answer no node accepts the token, and none issues another one for the Organization.
 */
export async function endMembership(
  { nodes, model, random }: World,
  { call, nodeAt }: Calls,
  { organizationGuid }: Tenant,
  { node, ending }: { node: number; ending: MemberEnding },
): Promise<void> {
  const email = `member-${random.bytes(6).toString('hex')}@partner.example`;
  const team = `/operator/organizations/${organizationGuid}/members`;
  const invited = await call(nodeAt(node), {
    ...{ method: 'POST', url: team, payload: { email, role: 'developer' } },
  });
  if (!isOk(invited)) return;
  const link = new URL(String(invited.body.invitation_link));
  const joined = await call(nodeAt(node + 1), {
    ...{ method: 'POST', url: '/dashboard/password' },
    payload: { token: link.hash.slice('#token='.length), password: PASSWORD },
  });
  if (!isOk(joined) || joined.cookie === undefined) return;
  const headers = { cookie: joined.cookie };
  const requestToken = (at: Node) =>
    call(at, {
      ...{ method: 'POST', url: '/dashboard/token', headers },
      payload: { organization_guid: organizationGuid, environment: 'sandbox' },
    });
  const issued = await requestToken(nodeAt(node + 2));
  if (!isOk(issued)) return;
  const token = String(issued.body.access_token);
  const use = (at: Node) => call(at, { method: 'GET', url: '/api/banks' }, token);
  // Each node knows the session and the token before they end.
  for (const each of nodes) {
    const used = await use(each);
    model.check(
      used === 'lost' || used.status < 400 || used.status >= 500,
      () => `${each.name} refuses the token of a member`,
    );
    await requestToken(each);
  }
  const ended = await (ending === 'removal'
    ? call(nodeAt(node), { method: 'DELETE', url: `${team}/${String(invited.body.guid)}` })
    : call(nodeAt(node), { method: 'POST', url: '/dashboard/logout', headers, payload: {} }));
  if (!isOk(ended)) return;
  for (const each of nodes) {
    const [used, again] = [await use(each), await requestToken(each)];
    model.check(!isAccepted(used), () => `${each.name} accepts the token of a member after the ${ending}`);
    model.check(!isAccepted(again), () => `${each.name} issues a token to a member after the ${ending}`);
    const session = await call(each, { method: 'GET', url: '/dashboard/session', headers });
    model.check(
      !JSON.stringify(session).includes(organizationGuid),
      () => `${each.name} shows the Organization to a member after the ${ending}`,
    );
  }
}
