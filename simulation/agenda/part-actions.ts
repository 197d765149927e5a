import type { ObjectType } from './paths.ts';

/** A busy episode. */
export type Span = { startAt: number; spanMs: number };

export type Feature = 'files' | 'webhooks';
/** How the access of a member ends: the membership is removed, or the member logs out. */
export type MemberEnding = 'removal' | 'logout';
export type WindowKind = 'failed' | 'waiting' | 'all';

/**
 * `inline`: in the request. `upload`: by URL, in pieces. `cut`: by URL, first cut off. `race`: two uploads by the same
 * URL. `unused`: no upload. `mistyped`: inline, of another type than declared. `deleted`: inline, deleted soon after.
 */
export const FILE_PLANS = ['inline', 'upload', 'cut', 'race', 'unused', 'mistyped', 'deleted'] as const;
export type FilePlan = (typeof FILE_PLANS)[number];

/** Parts beside webhooks. Each costs statements, so a seed draws which of them take part. */
export type PartAction =
  | {
      kind: 'object';
      type: ObjectType;
      tenant: number;
      node: number;
      ending: string;
      deleteAfterMs: number | undefined;
    }
  | { kind: 'file'; plan: FilePlan; tenant: number; node: number }
  | { kind: 'disk'; ms: number }
  | { kind: 'clock'; node: number; ms: number; forMs: number }
  | { kind: 'member'; tenant: number; node: number; ending: MemberEnding }
  | { kind: 'move'; pick: number; node: number }
  | { kind: 'window'; pick: number; node: number; window: WindowKind; ageMs: number }
  | { kind: 'burst'; pick: number; node: number; count: number; plan: 'hanging' | 'rejecting' | 'late' }
  | { kind: 'feature'; tenant: number; node: number; feature: Feature; ms: number };
