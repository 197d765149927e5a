import assert from 'node:assert/strict';
import type { TestApp } from '../app/app.ts';
import type { Tenant } from '../app/tenant.ts';
import { nextGuid } from '../objects/customers.ts';

/** The body of `POST /operator/events`, possibly invalid. */
type ReportedEvent = Record<string, unknown>;

/** An event of the tenant's bank: a completed transfer by default. */
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

/** Reports several events in one call of the operator; returns their guids in order. */
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
