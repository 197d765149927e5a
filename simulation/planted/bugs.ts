// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the planted code contains template literals.
/** Small bugs that only a test puts into the code, to prove that the simulation finds such bugs. */
export type PlantedBug = { name: string; file: string; from: string; to: string };

const DELIVERIES = 'server/webhooks/deliveries';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'deliveries of a claim without an answer stay leased',
    file: `${DELIVERIES}/queue/claims.ts`,
    from: 'const released = await releaseUntrackedLeases(',
    to: 'return;\n    const released = await releaseUntrackedLeases(',
  },
  {
    name: 'the recorder is not fenced by the lease',
    file: `${DELIVERIES}/recording/record-store.ts`,
    from: 'and q.delivery_guid = o.guid and q.leased_by = ${holder}\n        and o.next_attempt_at is not null',
    to: 'and q.delivery_guid = o.guid and (q.leased_by = ${holder} or true)\n        and o.next_attempt_at is not null',
  },
  {
    name: 'no dispatcher takes over from an expired one',
    file: `${DELIVERIES}/queue/lease.ts`,
    from: 'return dead.length === 0 ? undefined : await store.releaseAll(transaction, dead);',
    to: 'return dead.length === 0 ? undefined : 0;',
  },
  {
    name: 'a dispatcher takes over from dispatchers whose lease is valid',
    file: `${DELIVERIES}/queue/lease-store.ts`,
    from: ".where('lease_until', '<', now)",
    to: ".where('lease_until', '<', new Date(now.getTime() + 9_000))",
  },
  {
    name: 'a dispatcher sends on after its lease has expired',
    file: `${DELIVERIES}/queue/lease.ts`,
    from: 'return clock.now().getTime() < leaseUntil - LEASE_MARGIN_MS ? holder : undefined;',
    to: 'return holder;',
  },
  {
    name: 'jitter of 60 % instead of 10 %',
    file: `${DELIVERIES}/sending/schedule.ts`,
    from: 'const JITTER = 0.1;',
    to: 'const JITTER = 0.6;',
  },
  {
    name: 'the second retry comes after two seconds',
    file: `${DELIVERIES}/sending/schedule.ts`,
    from: 'const FIRST_DELAYS_MS = [2_000, 4_000, 8_000];',
    to: 'const FIRST_DELAYS_MS = [2_000, 2_000, 8_000];',
  },
  {
    name: 'a failed attempt ends the delivery',
    file: `${DELIVERIES}/sending/schedule.ts`,
    from: 'return at <= createdAt.getTime() + RETRY_PERIOD_MS ? new Date(at) : undefined;',
    to: 'return at <= createdAt.getTime() + 20_000 ? new Date(at) : undefined;',
  },
  {
    name: 'events of one environment go to the endpoints of both',
    file: `${DELIVERIES}/queue/enqueue.ts`,
    from: 'byOwner.get(`${endpoint.organizationGuid}${endpoint.environment}`) ?? [],',
    to: 'events.filter((event) => event.organization_guid === endpoint.organizationGuid),',
  },
  {
    name: 'a batch is deleted with its first outcome',
    file: `${DELIVERIES}/queue/batches.ts`,
    from: 'left === own.length',
    to: 'left >= own.length',
  },
  {
    name: 'a batched success is counted twice after a lost answer',
    file: `${DELIVERIES}/recording/record-store.ts`,
    from: 'where d.subscription_guid = o.subscription_guid and d.guid = o.guid and d.completed_at is null\n      returning',
    to: 'where d.subscription_guid = o.subscription_guid and d.guid = o.guid\n      returning',
  },
  {
    name: 'an outcome that could not be recorded is dropped',
    file: `${DELIVERIES}/recording/recorder.ts`,
    from: 'gathered = [...batch, ...gathered];',
    to: 'for (const entry of batch) entry.done();',
  },
  {
    name: 'the signature covers the body without its last byte',
    file: `${DELIVERIES}/sending/signature.ts`,
    from: "createHmac('sha256', key).update(body).digest('hex')",
    to: "createHmac('sha256', key).update(body.slice(0, -1)).digest('hex')",
  },
  {
    name: 'a subscription is deleted a day early',
    file: 'server/webhooks/subscriptions/service.ts',
    from: 'const deletionAt = new Date(now.getTime() + DELETION_DELAY_MS);',
    to: 'const deletionAt = new Date(now.getTime() + DELETION_DELAY_MS / 2);',
  },
  {
    name: 'an endpoint that fails is failed a day early',
    file: 'server/webhooks/subscriptions/state.ts',
    from: 'export const FAILS_AFTER_MS = 7 * 24 * 3_600_000;',
    to: 'export const FAILS_AFTER_MS = 6 * 24 * 3_600_000;',
  },
  {
    name: 'dispatchers are not told of a paused endpoint',
    file: 'server/webhooks/subscriptions/updates.ts',
    from: 'if (changesEndpoint && !isFailure(updated)) await announceChange(guid);',
    to: 'void announceChange;',
  },
  {
    name: 'an event is acknowledged before its commit',
    file: 'server/infrastructure/runtime/batcher.ts',
    from: 'for (const entry of batch) entry.reject(error);',
    to: 'batch.forEach((entry) => entry.resolve({ total: 1, created: 1, guids: [] } as Output));',
  },
  {
    name: 'a claimed delivery is not leased',
    file: `${DELIVERIES}/queue/queue-store.ts`,
    from: 'update delivery_queue set leased_by = ${holder}\n      where ctid',
    to: 'update delivery_queue set leased_by = null\n      where ctid',
  },
  {
    name: 'a cached key stays valid after its removal',
    file: 'server/tokens/revoking/revocations.ts',
    from: "if (kind !== 'token') notifyListener(subject);",
    to: '',
  },
  {
    name: 'a node takes its lease of revocations after reading them',
    file: 'server/tokens/revoking/revocations.ts',
    from: '    await lease();\n    const before = lastRevision;',
    to: '    const before = -1;',
  },
  {
    name: 'a dispatcher misses its wake-up after an error',
    file: 'server/infrastructure/background/polling.ts',
    from: 'wakeIn(RETRY_AFTER_MS);',
    to: '',
  },
  {
    name: 'an event is found without its Organization',
    file: 'server/webhooks/events/store.ts',
    from: ".where('organization_guid', '=', visible.organizationGuid)\n    .where('guid', '=', guid);",
    to: ".where('guid', '=', guid);",
  },
  {
    name: 'the tokens of a removed member are not revoked',
    file: 'server/people/members/service.ts',
    from: ": revocations.revoke(transaction, 'token', membership.grant_guid);",
    to: ': undefined;',
  },
  {
    name: 'a feature is remembered by each node',
    file: 'server/credentials/organizations/service.ts',
    from: 'const organization = await store.selectOrganization(queries, guid);\n      return organization ? checkFeature',
    to: 'const known = ((queries as any).known ??= new Map());\n      const organization = known.get(guid) ?? (await store.selectOrganization(queries, guid));\n      known.set(guid, organization);\n      return organization ? checkFeature',
  },
  {
    name: 'a transfer that should fail is completed',
    file: 'server/objects/machine.ts',
    from: 'if (ending === undefined) return paths[0] ?? [];',
    to: "if (ending === undefined || ending === 'failed') return paths[0] ?? [];",
  },
  {
    name: 'two nodes move the same object',
    file: 'server/objects/simulation-store.ts',
    from: '.limit(limit)\n    .forNoKeyUpdate()\n    .skipLocked()',
    to: '.limit(limit)',
  },
  {
    name: 'scheduled deletions of content are not carried out',
    file: 'server/files/storage/cleanup/cleanup-store.ts',
    from: 'select guid from file_deletions where due_at <= ${now}',
    to: 'select guid from file_deletions where due_at <= ${now} and false',
  },
  {
    name: 'an upload that was cut off is stored',
    file: 'server/files/storage/folder/write-file.ts',
    from: 'for await (const chunk of content) {',
    to: 'const whole = async function* () { try { yield* content; } catch {} };\n  for await (const chunk of whole()) {',
  },
  {
    name: 'an endpoint counts as failing a minute before its first failure',
    file: `${DELIVERIES}/recording/endpoint-health.ts`,
    from: 'failingSince: before.failingSince ?? endedAt',
    to: 'failingSince: before.failingSince ?? new Date(endedAt.getTime() - 60_000)',
  },
  {
    name: 'two nodes redeliver the same window',
    file: `${DELIVERIES}/redelivery/jobs/redelivery-store.ts`,
    from: ".where('failed_at', 'is', null)\n    .forUpdate()\n    .skipLocked()",
    to: ".where('failed_at', 'is', null)",
  },
  {
    name: 'history is dropped a week early',
    file: 'server/infrastructure/database/partitions/partitions.ts',
    from: 'to <= now - daysKept(table) * DAY_MS',
    to: 'to <= now - (daysKept(table) - 7) * DAY_MS',
  },
  {
    name: 'an endpoint that hangs takes every slot',
    file: `${DELIVERIES}/queue/lanes/slots.ts`,
    from: 'export const MAX_IN_FLIGHT = 4_096;',
    to: 'export const MAX_IN_FLIGHT = 1;',
  },
];
