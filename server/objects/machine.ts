import { Failure } from '../infrastructure/runtime/failure.ts';

/** The fields of an object other than its state, validated by the schema of its type. */
export type Details = Record<string, unknown>;

/** The state machine of one object type, as data. */
export type Machine = {
  /** Every state with its allowed next states; the first state is the initial one. */
  transitions: Readonly<Record<string, readonly string[]>>;
  /** The paths of the simulator from the initial state. The first path is the default. */
  paths: readonly (readonly [string, ...string[]])[];
  /** The states of a requested deletion; a partner cannot choose them as an ending. */
  deletion?: readonly [deleting: string, deleted: string];
  /** The transition of an object that stays in a state for too long. */
  timeouts?: Readonly<Record<string, { to: string; afterMs: number }>>;
  /** The event kinds of a transition; by default the new state. */
  kindsOf?(from: string | undefined, to: string): readonly string[];
  /** For a state that follows from the details and is not reported. */
  derived?: {
    stateOf(details: Details): string;
    /** The details that put the object into the state. */
    reach(details: Details, state: string): Details;
  };
};

export function statesOf({ transitions }: Machine): string[] {
  return Object.keys(transitions);
}

export function firstStateOf({ paths }: Machine): string {
  return paths[0]?.[0] as string;
}

export function canTransition({ transitions }: Machine, from: string, to: string): boolean {
  return transitions[from]?.includes(to) ?? false;
}

export function kindsOf(machine: Machine, from: string | undefined, to: string): readonly string[] {
  return machine.kindsOf ? machine.kindsOf(from, to) : [to];
}

/** The states in which a simulation may end. */
export function endingsOf(machine: Machine): string[] {
  const reached = new Set(machine.paths.flat());
  return statesOf(machine).filter((state) => reached.has(state) && state !== firstStateOf(machine));
}

/** The first path to the ending, cut off there; the default path without an ending. */
export function pathTo({ paths, deletion }: Machine, ending: string | undefined): readonly string[] {
  if (ending === undefined) return paths[0] ?? [];
  const all: readonly (readonly string[])[] = deletion ? [...paths, deletion] : paths;
  const path = all.find((states) => states.includes(ending)) ?? [];
  return path.slice(0, path.indexOf(ending) + 1);
}

/** The next transition on the path to an ending; `afterMs` only where the state has its own timeout. */
export function nextTransition(
  machine: Machine,
  state: string,
  ending: string,
): { to: string; afterMs?: number } | undefined {
  const path = pathTo(machine, ending);
  const place = path.indexOf(state);
  if (place === -1) return undefined;
  const to = path[place + 1];
  return to === undefined ? machine.timeouts?.[state] : { to };
}

export function refuseTransition(name: string, from: string, to: string): Failure {
  return new Failure('state_conflict', `The ${name} is ${from}, and cannot become ${to}`);
}
