import type { AuditRecord } from '../../../infrastructure/audit/service.ts';
import type { TimelineChange, TimelineChangeKind } from './health-states.ts';

type Rule = {
  kind: TimelineChangeKind;
  action: `subscription.${string}`;
  applies?: (changes: Record<string, unknown>) => boolean;
};

const RULES: readonly Rule[] = [
  {
    kind: 'key_rolled',
    action: 'subscription.create',
    applies: (changes) => changes.replaces_guid !== undefined,
  },
  {
    kind: 'created',
    action: 'subscription.create',
    applies: (changes) => changes.replaces_guid === undefined,
  },
  { kind: 'failed', action: 'subscription.fail' },
  { kind: 'deletion_scheduled', action: 'subscription.delete' },
  { kind: 'disabled', action: 'subscription.update', applies: (changes) => changes.disabled === true },
  { kind: 'enabled', action: 'subscription.update', applies: (changes) => changes.disabled === false },
  { kind: 'paused', action: 'subscription.update', applies: (changes) => changes.paused === true },
  { kind: 'resumed', action: 'subscription.update', applies: (changes) => changes.paused === false },
  { kind: 'url_changed', action: 'subscription.update', applies: (changes) => changes.url !== undefined },
];

export const CHANGE_ACTIONS: readonly string[] = [...new Set(RULES.map(({ action }) => action))];

/** The changes of a subscription that its timeline shows. */
export function changesOf(records: readonly AuditRecord[]): TimelineChange[] {
  return records.flatMap(({ action, changes, created_at: at }) =>
    RULES.filter(
      (rule) => rule.action === action && (rule.applies?.(changes as Record<string, unknown>) ?? true),
    ).map(({ kind }) => ({ at, kind })),
  );
}
