import type { Model, Request } from '../world/model.ts';

/** A node reads a changed endpoint before its next claim. */
const GRACE_MS = 1;

/** Invariant 3: nothing is sent to a URL after the answer to the change of the URL. */
export function checkUrl(model: Model, { url, at, node, eventGuid }: Request): void {
  const leftAt = model.byUrl(url)?.left.get(url);
  if (leftAt === undefined) return;
  model.check(
    at <= leftAt + GRACE_MS,
    () => `${node.name} sends ${eventGuid} to ${url} ${Math.round(at - leftAt)} ms after its URL was changed`,
  );
}
