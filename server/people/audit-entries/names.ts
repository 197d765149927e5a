import type { Applications } from '../../credentials/applications/service.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Audit, AuditRecord } from '../../infrastructure/audit/service.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { isGuid } from '../../infrastructure/runtime/guid.ts';
import type { Subscriptions } from '../../webhooks/subscriptions/service.ts';
import type { People } from '../members/people.ts';
import type { Members } from '../members/service.ts';

export type NameSources = {
  audit: Audit;
  people: People;
  members: Members;
  organizations: Organizations;
  applications: Applications;
  subscriptions: Subscriptions;
};

/** The names of the actor and the object of a record; email addresses only of people. */
export type Names = {
  actorName: string | undefined;
  actorEmail: string | undefined;
  objectName: string | undefined;
};

type Kind = 'person' | 'key' | 'subscription' | 'bank' | 'organization';
type Subject = { kind: Kind; id: string };

const KINDS: Readonly<Record<string, Kind>> = {
  account: 'person',
  member: 'person',
  application: 'key',
  bank_application: 'key',
  organization_application: 'key',
  subscription: 'subscription',
  bank: 'bank',
  organization: 'organization',
};

/** Resolves the names of a page of records in at most one query per kind, and one for objects that no longer exist. */
export async function namesOfRecords(
  { audit, people, members, organizations, applications, subscriptions }: NameSources,
  organizationGuid: string,
  records: readonly AuditRecord[],
): Promise<(record: AuditRecord) => Names> {
  const subjects = records.flatMap((record) => [actorOf(record) ?? [], objectOf(record) ?? []].flat());
  const idsOf = (kind: Kind) => [
    ...new Set(subjects.filter((subject) => subject.kind === kind).map(({ id }) => id)),
  ];
  const [emails, memberNames, keyNames, subscriptionNames, banks, organization] = await Promise.all([
    people.emailsOf(idsOf('person')),
    members.namesOf(organizationGuid, idsOf('person')),
    applications.namesOf(organizationGuid, idsOf('key')),
    subscriptions.namesOf(organizationGuid, idsOf('subscription')),
    organizations.findBanks(idsOf('bank')),
    idsOf('organization').length === 0 ? undefined : organizations.get(organizationGuid),
  ]);
  const current = ({ kind, id }: Subject): string | undefined => {
    if (kind === 'person') return memberNames.get(id) ?? emails.get(id);
    if (kind === 'key') return keyNames.get(id);
    if (kind === 'subscription') return subscriptionNames.get(id);
    if (kind === 'organization') return isFailure(organization) ? undefined : organization?.name;
    const bank = banks.get(id);
    return bank?.organization_guid === organizationGuid ? bank.name : undefined;
  };
  const gone = subjects.filter((subject) => subject.kind !== 'person' && current(subject) === undefined);
  const recorded = await audit.namesOf(
    organizationGuid,
    gone.map(({ id }) => id),
  );
  const nameOf = (subject: Subject | undefined) =>
    subject && (current(subject) ?? (subject.kind === 'person' ? undefined : recorded.get(subject.id)));
  return (record) => {
    const actor = actorOf(record);
    return {
      actorName: actor?.kind === 'person' ? memberNames.get(actor.id) : nameOf(actor),
      actorEmail: actor?.kind === 'person' ? emails.get(actor.id) : undefined,
      objectName: nameOf(objectOf(record)),
    };
  };
}

function actorOf({ actor_type: type, actor: id }: AuditRecord): Subject | undefined {
  if (!isGuid(id)) return undefined;
  if (type === 'user') return { kind: 'person', id };
  return type === 'application' ? { kind: 'key', id } : undefined;
}

/** Deliveries and redeliveries have no name; that of their subscription says more than a guid. */
function objectOf({ object_type: type, object_id: id, changes }: AuditRecord): Subject | undefined {
  const { subscription_guid: subscriptionGuid } = changes;
  if (type.startsWith('subscription_') && typeof subscriptionGuid === 'string' && isGuid(subscriptionGuid))
    return { kind: 'subscription', id: subscriptionGuid };
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  return kind && isGuid(id) ? { kind, id } : undefined;
}
