import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { nextGuid } from './customers.ts';
import type { Tenant } from './tenant.ts';

/** What `POST /operator/events` takes; anything goes, for whoever wants to be refused. */
type ReportedEvent = Record<string, unknown>;

/** An event of the tenant's bank: a transfer that was completed, unless the test says otherwise. */
export function eventOf(
  app: TestApp,
  { organizationGuid, bankGuid }: Pick<Tenant, 'organizationGuid' | 'bankGuid'>,
  fields: ReportedEvent = {},
): ReportedEvent {
  return {
    organization_guid: organizationGuid,
    bank_guid: bankGuid,
    event_type: 'transfer.completed',
    object_guid: nextGuid(app),
    ...fields,
  };
}

/** So many events, or one for each of these, in one call of the operator; gives their guids in this order. */
export async function publishEvents(
  app: TestApp,
  tenant: Pick<Tenant, 'organizationGuid' | 'bankGuid'>,
  what: number | readonly ReportedEvent[] = 1,
): Promise<string[]> {
  const fields = typeof what === 'number' ? Array.from({ length: what }, () => ({})) : what;
  const events = fields.map((each) => eventOf(app, tenant, each));
  const { status, body } = await app.operate('POST', '/events', { events });
  assert.equal(status, 202, JSON.stringify(body));
  return body.guids as string[];
}
