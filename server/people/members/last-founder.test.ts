import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { dashboardToken, joinTeam, type Person } from '../../../testing/people/dashboard.ts';

/** A team always keeps a Founder, also under concurrent changes on several nodes. */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());

async function teamOf(founders: number) {
  const { organizationGuid } = await createTenant(app);
  const people: Person[] = [];
  for (let i = 0; i < founders; i++) people.push(await joinTeam(app, organizationGuid));
  const tokens = await Promise.all(people.map((person) => dashboardToken(app, person, organizationGuid)));
  return { organizationGuid, people, tokens };
}

const demote = (node: TestApp, token: string, { memberGuid }: Person) =>
  node.call({ method: 'PATCH', url: `/api/members/${memberGuid}`, token, payload: { role: 'viewer' } });
const remove = (node: TestApp, token: string, { memberGuid }: Person) =>
  node.call({ method: 'DELETE', url: `/api/members/${memberGuid}`, token });

async function foundersOf(organizationGuid: string): Promise<number> {
  const members = objectsOf(await app.operate('GET', `/organizations/${organizationGuid}/members`));
  return members.filter(({ role }) => role === 'founder').length;
}

test('the last Founder cannot be removed or demoted, not even by themselves', async () => {
  const { organizationGuid, people, tokens } = await teamOf(1);
  const [founder, token] = [people[0] as Person, tokens[0] as string];
  await joinTeam(app, organizationGuid, { role: 'key_admin' });
  assertError(await demote(app, token, founder), 409, 'last_founder');
  assertError(await remove(app, token, founder), 409, 'last_founder');
  const same = await app.call({
    method: 'PATCH',
    url: `/api/members/${founder.memberGuid}`,
    token,
    payload: { role: 'founder' },
  });
  assert.equal(same.status, 200);
  assert.equal((await app.call({ url: '/api/members', token })).status, 200, 'and their token is valid');
});

test('an invited Founder who has not accepted does not count', async () => {
  const { people, tokens } = await teamOf(1);
  const [founder, token] = [people[0] as Person, tokens[0] as string];
  const payload = { email: 'second-founder@partner.example', role: 'founder' };
  const invited = await app.call({ method: 'POST', url: '/api/members', token, payload });
  assertError(await remove(app, token, founder), 409, 'last_founder');
  const gone = await app.call({ method: 'DELETE', url: `/api/members/${invited.body.guid}`, token });
  assert.equal(gone.status, 204, 'an invited Founder can be removed');
});

for (const [what, act] of [
  ['demote', demote],
  ['remove', remove],
] as const)
  test(`of Founders who ${what} each other concurrently one remains`, async () => {
    for (let round = 0; round < 5; round++) {
      const { organizationGuid, people, tokens } = await teamOf(3);
      const answers = await Promise.all(
        people.map((_, i) =>
          act(i % 2 ? app : second, tokens[i] as string, people[(i + 1) % people.length] as Person),
        ),
      );
      const founders = await foundersOf(organizationGuid);
      assert.ok(founders >= 1, `${founders} left: ${answers.map(({ status }) => status)}`);
      // A demoted Founder gets 401 or 403, removing the last one gets 409.
      for (const { status } of answers) assert.ok([200, 204, 401, 403, 409].includes(status), String(status));
    }
  });

test('of Founders who all leave concurrently one remains', async () => {
  const { organizationGuid, people, tokens } = await teamOf(4);
  const answers = await Promise.all(
    people.map((person, i) => remove(i % 2 ? app : second, tokens[i] as string, person)),
  );
  assert.equal(answers.filter(({ status }) => status === 204).length, 3);
  assert.equal(answers.filter(({ status }) => status === 409).length, 1);
  assert.equal(await foundersOf(organizationGuid), 1);
});

test('the operator can remove the last Founder and appoint another', async () => {
  const { organizationGuid, people, tokens } = await teamOf(1);
  const path = `/organizations/${organizationGuid}/members`;
  assert.equal((await app.operate('DELETE', `${path}/${people[0]?.memberGuid}`)).status, 204);
  assertError(
    await app.call({ url: '/api/members', token: tokens[0] as string }),
    401,
    'authentication_failed',
  );
  assert.equal(await foundersOf(organizationGuid), 0);
  await joinTeam(app, organizationGuid);
  assert.equal(await foundersOf(organizationGuid), 1);
});
