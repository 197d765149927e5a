import type { InjectOptions } from 'fastify';
import type { Tenant } from '../world/model.ts';
import type { CallResult, Node } from '../world/node.ts';
import type { World } from '../world/world.ts';

const ROUNDS = 15;
const USE_EVERY_MS = 70;

type Call = (node: Node, options: InjectOptions, token?: string) => Promise<CallResult>;

/** Invariant 6: a removed key and the tokens obtained with it are accepted by no node after the removal was answered. */
export async function removeKey(
  { nodes, model, run }: World,
  call: Call,
  { organizationGuid }: Tenant,
  { node: nodeIndex, isSudden, pause }: { node: number; isSudden: boolean; pause(ms: number): Promise<void> },
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
  const issued = await requestToken(nodeAt(isSudden ? nodeIndex : nodeIndex + 1));
  if (issued === 'lost' || issued.status !== 200) return;
  const token = String(issued.body.access_token);
  const use = (node: Node) => call(node, { method: 'GET', url: '/api/banks' }, token);
  // Otherwise each node knows the key and the token before they are removed.
  for (const node of isSudden ? [] : nodes) {
    await use(node);
    await requestToken(node);
  }
  const removed = await call(nodeAt(isSudden ? nodeIndex : nodeIndex + 2), {
    ...{ method: 'DELETE', url: `/operator/applications/${String(clientId)}` },
  });
  if (removed === 'lost' || removed.status >= 300) return;
  const assertRefused = async (node: Node) => {
    const used = await use(node);
    model.check(
      used === 'lost' || used.status >= 400,
      () => `${node.name} accepts the token of a removed key`,
    );
  };
  for (const node of nodes) {
    if (!isSudden) await assertRefused(node);
    const again = isSudden ? 'lost' : await requestToken(node);
    model.check(again === 'lost' || again.status >= 400, () => `${node.name} accepts a removed key`);
  }
  // At a node that is about to read the list of revocations, each moment may differ.
  for (let round = 0; isSudden && round < ROUNDS; round += 1)
    for (const node of nodes) {
      run(() => assertRefused(node));
      await pause(USE_EVERY_MS);
    }
}
