import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { joinTeam } from '../../../testing/people/dashboard.ts';

const app = await createTestApp();
const { queries } = app.database;

test('memberships of the same moment are ordered by Organization', async () => {
  const tenants = [await createTenant(app), await createTenant(app), await createTenant(app)];
  const [first = '', second = '', third = ''] = tenants.map((tenant) => tenant.organizationGuid).toSorted();
  const { memberGuid } = await joinTeam(app, third);
  const membership = await queries
    .selectFrom('memberships')
    .selectAll()
    .where('member_guid', '=', memberGuid)
    .executeTakeFirstOrThrow();
  for (const organization_guid of [second, first])
    await queries
      .insertInto('memberships')
      .values({ ...membership, organization_guid, grant_guid: app.guids.next() })
      .execute();
  const found = await app.members.organizationsOf(memberGuid);
  assert.deepEqual(
    found.map(({ organization }) => organization.guid),
    [first, second, third],
  );
});
