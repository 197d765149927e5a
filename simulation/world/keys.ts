import type { InjectOptions } from 'fastify';
import type { Tenant } from './model.ts';
import type { CallResult, Node } from './node.ts';
import type { World } from './world.ts';

type Call = (node: Node, options: InjectOptions, token?: string) => Promise<CallResult>;

/** Invariant 6: a removed key and the tokens obtained with it are accepted by no node after the removal was answered. */
export async function removeKey(
  { nodes, model }: World,
  call: Call,
  { organizationGuid }: Tenant,
  nodeIndex: number,
): Promise<void> {
  const nodeAt = (index: number) => nodes[index % nodes.length] as Node;
  const created = await call(nodeAt(nodeIndex), {
    ...{ method: 'POST', url: `/operator/organizations/${organizationGuid}/applications` },
    payload: { name: 'Key', ip_allowlist: [], scopes: ['banks:read'] },
  });
  if (created === 'lost' || created.status !== 201) return;
  const { client_id: clientId, client_secret: secret } = created.body;
  const requestToken = (node: Node) =>
    call(node, {
      ...{ method: 'POST', url: '/oauth/token' },
      payload: {
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: secret,
        scope: 'banks:read',
      },
    });
  const issued = await requestToken(nodeAt(nodeIndex + 1));
  if (issued === 'lost' || issued.status !== 200) return;
  const token = String(issued.body.access_token);
  const use = (node: Node) => call(node, { method: 'GET', url: '/api/banks' }, token);
  // Each node knows the key and the token before they are removed.
  for (const node of nodes) {
    await use(node);
    await requestToken(node);
  }
  const removed = await call(nodeAt(nodeIndex + 2), {
    ...{ method: 'DELETE', url: `/operator/applications/${String(clientId)}` },
  });
  if (removed === 'lost' || removed.status >= 300) return;
  for (const node of nodes) {
    const [used, again] = [await use(node), await requestToken(node)];
    model.check(
      used === 'lost' || used.status >= 400,
      () => `${node.name} accepts the token of a removed key`,
    );
    model.check(again === 'lost' || again.status >= 400, () => `${node.name} accepts a removed key`);
  }
}
