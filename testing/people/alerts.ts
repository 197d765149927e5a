import assert from 'node:assert/strict';
import type { TestApp } from '../app/app.ts';
import { userToken } from '../app/tenant.ts';

export type AlertBody = {
  guid: string;
  type: string;
  severity: string;
  environment?: string;
  subscription_guid?: string;
  title: string;
  message: string;
  details: Record<string, unknown>;
};

/** Alerts as a member of the role sees them, oldest first. */
export async function alertsOf(
  app: TestApp,
  organizationGuid: string,
  {
    role = 'founder',
    query = '',
  }: { role?: 'founder' | 'key_admin' | 'developer' | 'viewer'; query?: string } = {},
): Promise<AlertBody[]> {
  const token = await userToken(app, organizationGuid, role);
  const { status, body } = await app.call({ url: `/api/alerts?per_page=100${query}`, token });
  assert.equal(status, 200, JSON.stringify(body));
  return (body.objects as AlertBody[]).toReversed();
}

export async function alertTypesOf(...args: Parameters<typeof alertsOf>): Promise<string[]> {
  return (await alertsOf(...args)).map(({ type }) => type);
}

/** The second factors of a member whose removal raised an alert. */
export async function removedFactorsOf(
  app: TestApp,
  organizationGuid: string,
  memberGuid: string,
): Promise<unknown[]> {
  const alerts = await alertsOf(app, organizationGuid, { query: '&type=second_factor.removed' });
  return alerts.flatMap(({ details }) => (details.member_guid === memberGuid ? [details.factor] : []));
}
