import type { Lane } from './lane.ts';

/** Deliveries held in memory altogether; the rest waits in the database. */
export const MAX_HELD = 50_000;
/** Of these, for endpoints that fail or have not answered yet: however many they are, the others keep theirs. */
export const MAX_HELD_UNPROVEN = 12_500;
/** No lane takes more than this share of what is free, so there is always something left for the next one. */
const SHARE_OF_FREE = 1 / 4;
/** The last of what is free is for lanes that hold little: large backlogs must leave enough to send from. */
const KEPT_FREE = 10_000;
const LITTLE = 64;
const SHARE_OF_KEPT = 1 / 16;
/** One that does not answer sends one at a time and needs next to nothing, but there may be thousands of them. */
const SHARE_OF_UNPROVEN = 1 / 256;

/** Divides the memory for deliveries among lanes. */
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
    const little = Math.min(LITTLE, Math.floor(free * SHARE_OF_KEPT));
    return Math.max(little, Math.floor((free - KEPT_FREE) * SHARE_OF_FREE));
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

    forget: (lane: Lane, count: number) => change(lane, -count),

    /** After an outcome: the lane may count as another kind from now on. */
    classify(lane: Lane): void {
      const isUnproven = lane.isUnproven();
      if (isUnproven === lane.countsAsUnproven) return;
      lane.countsAsUnproven = isUnproven;
      heldUnproven += isUnproven ? lane.held() : -lane.held();
    },
  };
}
