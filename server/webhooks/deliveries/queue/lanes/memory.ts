import type { Lane } from './lane.ts';

/** Deliveries held in memory by one process. */
export const MAX_HELD = 50_000;
/** Of these, deliveries to endpoints that fail or have not answered yet. */
export const MAX_HELD_UNPROVEN = 12_500;
/** One lane may use this share of the free capacity. */
const SHARE_OF_FREE = 1 / 4;
/** Reserved for lanes that hold few deliveries, so that large backlogs cannot stop them. */
const KEPT_FREE = 10_000;
const LITTLE = 64;
const SHARE_OF_KEPT = 1 / 16;
/** An endpoint that does not answer needs little, but there may be thousands of them. */
const SHARE_OF_UNPROVEN = 1 / 256;

/** Divides the capacity for held deliveries among the lanes. */
export function createMemory() {
  let held = 0;
  let heldUnproven = 0;

  function change(lane: Lane, count: number): void {
    lane.hold(count);
    held += count;
    if (lane.countsAsUnproven) heldUnproven += count;
  }

  function shareOfProven(): number {
    const free = MAX_HELD - held;
    const reserved = Math.min(LITTLE, Math.floor(free * SHARE_OF_KEPT));
    return Math.max(reserved, Math.floor((free - KEPT_FREE) * SHARE_OF_FREE));
  }

  function shareOfUnproven(): number {
    const free = Math.min(MAX_HELD - held, MAX_HELD_UNPROVEN - heldUnproven);
    return free > 0 ? Math.max(1, Math.floor(free * SHARE_OF_UNPROVEN)) : 0;
  }

  function free(lane: Lane): number {
    const share = lane.countsAsUnproven ? shareOfUnproven() : shareOfProven();
    return Math.max(0, Math.min(lane.capacity(), share - lane.held()));
  }

  return {
    held: () => held,

    reserve(lane: Lane, wanted: number): number {
      const granted = Math.min(wanted, free(lane));
      change(lane, granted);
      return granted;
    },

    hasCapacity: (lane: Lane) => free(lane) > 0,

    release: (lane: Lane, count: number) => change(lane, -count),

    /** To be called after each outcome. */
    classify(lane: Lane): void {
      const isUnproven = lane.isUnproven();
      if (isUnproven === lane.countsAsUnproven) return;
      lane.countsAsUnproven = isUnproven;
      heldUnproven += isUnproven ? lane.held() : -lane.held();
    },
  };
}
