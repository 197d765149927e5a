import { Failure } from '../infrastructure/runtime/failure.ts';

/** What an object is besides its states: typed per kind of object, and checked by its schema where it comes in. */
export type Details = Record<string, unknown>;

/** The life of one kind of object, as data. */
export type Machine = {
  /** Every state and where it may lead; the first is the state of what was just created. */
  moves: Readonly<Record<string, readonly string[]>>;
  /** The ways that the simulator knows, each from the first state on. The first of them is taken unless asked otherwise. */
  paths: readonly (readonly [string, ...string[]])[];
  /** What happens to an object that rests in a state for too long. */
  timeouts?: Readonly<Record<string, { to: string; afterMs: number }>>;
  /** The kinds of event that a move is told by; its new state, unless this says otherwise. */
  kindsOf?(from: string | undefined, to: string): readonly string[];
  /** For a state that nobody reports, because it follows from the details. */
  derived?: {
    stateOf(details: Details): string;
    /** The details with which the object is in that state. */
    reach(details: Details, state: string): Details;
  };
};

export function statesOf({ moves }: Machine): string[] {
  return Object.keys(moves);
}

export function firstStateOf({ paths }: Machine): string {
  return paths[0]?.[0] as string;
}

export function mayMove({ moves }: Machine, from: string, to: string): boolean {
  return moves[from]?.includes(to) ?? false;
}

export function kindsOf(machine: Machine, from: string | undefined, to: string): readonly string[] {
  return machine.kindsOf ? machine.kindsOf(from, to) : [to];
}

/** Where a simulation may end: wherever its ways lead. */
export function endingsOf(machine: Machine): string[] {
  const reached = new Set(machine.paths.flat());
  return statesOf(machine).filter((state) => reached.has(state) && state !== firstStateOf(machine));
}

/** The first way on which the ending lies, up to there; without one the usual way. */
export function pathTo({ paths }: Machine, ending: string | undefined): readonly string[] {
  if (ending === undefined) return paths[0] ?? [];
  const path: readonly string[] = paths.find((states) => states.includes(ending)) ?? [];
  return path.slice(0, path.indexOf(ending) + 1);
}

/** What is next for an object on its way to an ending: `afterMs` only where the state itself knows its time. */
export function nextMove(
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

export function refuseMove(name: string, from: string, to: string): Failure {
  return new Failure('state_conflict', `The ${name} is ${from}, and cannot become ${to}`);
}
