import { replacedBy } from '../../infrastructure/runtime/changes.ts';
import type { Application } from './store.ts';

/** The audit record of a change of a key pair. */
export function applicationChange(
  verb: 'create' | 'update' | 'remove',
  application: Application,
  changes: object,
) {
  const objectType = application.bank_guid === null ? 'organization_application' : 'bank_application';
  return {
    action: `${objectType}.${verb}` as const,
    organizationGuid: application.organization_guid,
    objectType,
    objectId: application.client_id,
    changes: { ...changes },
    before: verb === 'update' ? replacedBy(changes, application) : undefined,
  };
}
