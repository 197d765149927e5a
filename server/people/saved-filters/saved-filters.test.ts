import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { browse, dashboardToken, joinTeam, type Person } from '../../../testing/people/dashboard.ts';

const app = await createTestApp();
const { organizationGuid } = await createTenant(app);
const PATH = '/account/saved_filters';
const FILTERS = { type: 'transfer.failed', time: '24h' };

const save = (as: Person, input: object = {}): Promise<Answer> =>
  browse(app, 'POST', PATH, {
    as,
    payload: {
      ...{ organization_guid: organizationGuid, list: 'events', name: 'Failed', filters: FILTERS },
      ...input,
    },
  });
async function saved(as: Person, organization = organizationGuid): Promise<Record<string, unknown>[]> {
  const { status, body } = await browse(app, 'GET', `${PATH}?organization_guid=${organization}`, { as });
  assert.equal(status, 200, JSON.stringify(body));
  return body.objects as Record<string, unknown>[];
}

test('a member saves, replaces and deletes filters that no other member sees', async () => {
  const [person, colleague] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const { status, body } = await save(person);
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body, {
    guid: body.guid,
    ...{
      organization_guid: organizationGuid,
      list: 'events',
      name: 'Failed',
      filters: FILTERS,
      created_at: app.clock.now().toISOString(),
    },
  });
  const replaced = await save(person, { filters: { time: '1h' } });
  assert.equal(replaced.body.guid, body.guid);
  assert.deepEqual(
    (await saved(person)).map(({ name, filters }) => [name, filters]),
    [['Failed', { time: '1h' }]],
  );
  assert.deepEqual(await saved(colleague), []);
  assert.equal(((await browse(app, 'GET', PATH, { as: person })).body.objects as object[]).length, 1);
  const remove = (as: Person) => browse(app, 'DELETE', `${PATH}/${body.guid}`, { as });
  assertError(await remove(colleague), 404, 'not_found');
  assert.equal((await remove(person)).status, 204);
  assertError(await remove(person), 404, 'not_found');
  assert.deepEqual(await saved(person), []);
});

test('filters belong to an Organization of the member and are deleted with the membership', async () => {
  const [founder, person] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const other = await createTenant(app);
  const foreign = { organization_guid: other.organizationGuid };
  assertError(await save(person, foreign), 404, 'not_found');
  assert.deepEqual(await saved(person, other.organizationGuid), []);
  await save(person);
  const token = await dashboardToken(app, founder, organizationGuid);
  const url = `/api/members/${person.memberGuid}`;
  assert.equal((await app.call({ method: 'DELETE', url, token })).status, 204);
  const left = app.database.queries.selectFrom('saved_filters').where('member_guid', '=', person.memberGuid);
  assert.deepEqual(await left.select('guid').execute(), []);
});

test('a list has at most 20 saved filters, also when they are saved at once', async () => {
  const person = await joinTeam(app, organizationGuid);
  const answers = await Promise.all(Array.from({ length: 22 }, (_, i) => save(person, { name: `F${i}` })));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 2);
  for (const answer of refused) assertError(answer, 422, 'saved_filter_limit_reached', /20 for a list/);
  const [first] = await saved(person);
  assert.equal((await save(person, { name: first?.name })).status, 201, 'replacing is allowed');
  assert.equal((await save(person, { list: 'files' })).status, 201);
});

test('names, lists and filters have limits', async () => {
  const person = await joinTeam(app, organizationGuid);
  const many = Object.fromEntries(
    Array.from({ length: 21 }, (_, i) => [`f_${String.fromCharCode(97 + i)}`, '1']),
  );
  for (const input of [
    { name: ' ' },
    { name: 'x'.repeat(65) },
    { list: 'no list' },
    { filters: { 'Not-A-Name': '1' } },
    { filters: { type: 1 } },
    { filters: { type: 'x'.repeat(513) } },
    { filters: many },
  ])
    assertError(await save(person, input), 400, 'invalid_parameter');
});
