import type { App } from '../app.ts';
import type { CreatedApplication } from '../applications/service.ts';
import { systemActor } from '../audit/service.ts';
import type { Bank, Organization } from '../organizations/service.ts';
import { type Failure, isFailure } from '../runtime/failure.ts';

export type Demo = { organization: Organization; bank: Bank; bankKey: CreatedApplication };

const FIRST = { number: 0, perPage: 1, offset: 0, after: undefined };

/** On an empty database: something to try the API with. Undefined when there is anything already. */
export async function createDemo({ organizations, applications }: App): Promise<Demo | undefined> {
  const existing = await organizations.list(FIRST);
  if (existing.total > 0) return undefined;
  const organization = await organizations.create(systemActor, {
    name: 'Demo Organization',
    features: ['webhooks', 'files'],
  });
  const bank = required(
    await organizations.createBank(systemActor, organization.guid, {
      name: 'Demo Bank',
      environment: 'sandbox',
    }),
  );
  const owner = { organizationGuid: organization.guid, bank };
  const bankKey = required(await applications.create(systemActor, owner, { name: 'Demo key' }, 'optional'));
  return { organization, bank, bankKey };
}

function required<T>(result: T | Failure): T {
  if (isFailure(result)) throw new Error(result.message);
  return result;
}
