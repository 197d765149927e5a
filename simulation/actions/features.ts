import type { Feature } from '../agenda/part-actions.ts';
import type { Tenant } from '../world/model.ts';
import type { World } from '../world/world.ts';
import type { Calls } from './calls.ts';

const FEATURES: readonly Feature[] = ['files', 'webhooks'];
/** A call that needs the feature, and the status of its refusal. */
const GUARDED = {
  files: { url: '/api/files', refusal: 403 },
  webhooks: { url: '/api/subscriptions', refusal: 422 },
} as const;

/** Takes a feature away for a while: every node refuses its calls after the answer, and accepts them again later. */
export async function withdrawFeature(
  { nodes, model, sleep }: World,
  { call, callAsFounder, callUntilAnswered, nodeAt }: Calls,
  { organizationGuid }: Tenant,
  { feature, node, ms }: { feature: Feature; node: number; ms: number },
): Promise<void> {
  const { url, refusal } = GUARDED[feature];
  const update = (features: readonly Feature[]) =>
    ({ method: 'PATCH', url: `/operator/organizations/${organizationGuid}`, payload: { features } }) as const;
  const statuses = async () => {
    const results = [];
    for (const each of nodes) {
      const result = await callAsFounder(each, organizationGuid, { method: 'GET', url });
      if (result !== undefined && result !== 'lost' && result.status < 500)
        results.push({ name: each.name, status: result.status });
    }
    return results;
  };
  // Another entry of the agenda may give it back meanwhile.
  if (model.withdrawn.has(organizationGuid)) return;
  model.withdrawn.add(organizationGuid);
  await statuses();
  const answer = await call(nodeAt(node), update(FEATURES.filter((each) => each !== feature)));
  if (answer !== 'lost' && answer.status === 200)
    for (const { name, status } of await statuses())
      model.check(
        status === refusal,
        () => `${name} answers ${status} although the feature ${feature} was taken away`,
      );
  await sleep(ms);
  await callUntilAnswered(node + 1, update(FEATURES));
  for (const { name, status } of await statuses())
    model.check(status === 200, () => `${name} answers ${status} although the feature ${feature} is back`);
  model.withdrawn.delete(organizationGuid);
}
