import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURE_LABELS } from '../dashboard/pages/files/labels.ts';
import { KINDS } from '../dashboard/pages/sandbox/object-kinds.ts';
import { FileView } from '../server/files/schema.ts';
import { endingsOf } from '../server/objects/machine.ts';
import { newObjectSchema } from '../server/objects/schema.ts';
import { OBJECT_TYPES } from '../server/objects/types.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const DELAY_MS = 1_000;
const site = await createDashboardSite({ PORTICO_SIMULATOR_DELAY: `${DELAY_MS / 1000}s` });
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.simulator.start();

const valuesOf = (schema: unknown) => (schema as { enum?: readonly string[] }).enum;

test('each form asks for what the server needs, and offers only what it takes', () => {
  assert.deepEqual(KINDS.map(({ path }) => path).sort(), OBJECT_TYPES.map(({ plural }) => plural).sort());
  for (const type of OBJECT_TYPES) {
    const kind = KINDS.find(({ path }) => path === type.plural);
    assert.ok(kind, type.plural);
    const { properties, required = [] } = newObjectSchema(type);
    const needed = [...required, ...(type.customer === 'required' ? ['customer_guid'] : [])];
    const asked = kind.fields.filter((field) => field.required).map(({ name }) => name);
    assert.deepEqual(asked.filter((name) => needed.includes(name)).sort(), needed.sort(), kind.path);
    for (const { name, options } of kind.fields) {
      assert.ok(name in properties, `${kind.path} have a ${name}`);
      if (options) assert.deepEqual(options, valuesOf(properties[name]), `${kind.path}: ${name}`);
    }
    const endings = type.machine ? endingsOf(type.machine) : [];
    for (const ending of kind.outcomes) assert.ok(endings.includes(ending), `${kind.path} end ${ending}`);
  }
  assert.deepEqual(Object.keys(FAILURE_LABELS), valuesOf(FileView.properties.failure_code));
});

test('an object is created with its ending, and its states and events are watched', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  const dialog = page.getByRole('dialog');
  await page.goto('/sandbox?kind=customers');
  await page.getByRole('button', { name: 'Create customer' }).first().click();
  await dialog.getByLabel('Name').fill('Lin');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('row', { name: /individual · Lin/ }).waitFor();

  await page.goto('/sandbox');
  await page.getByRole('button', { name: 'Create transfer' }).first().click();
  await dialog.getByRole('combobox', { name: 'Customer' }).click();
  await page.getByRole('option', { name: /Lin/ }).click();
  await dialog.getByRole('combobox', { name: 'How does it end?' }).click();
  await page.getByRole('option', { name: 'failed' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row', { name: /funding · \$10\.00/ });
  for (const state of ['storing', 'reviewing', 'failed']) {
    await row.locator(`[data-state=${state}]`).waitFor();
    app.clock.advance(DELAY_MS);
    await app.simulator.settle();
  }
  await row.getByRole('link', { name: 'Events' }).click();
  for (const type of ['transfer.storing', 'transfer.reviewing', 'transfer.failed'])
    await page.getByRole('link', { name: type }).waitFor();
});
