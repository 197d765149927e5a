const TRANSITION = /^\s*(\S+) --> (\S+?)(?:: (.+))?$/;
const OUTSIDE = '[*]';

/** A state diagram of Mermaid as a table: drawing it would need megabytes of script in the browser. */
export function diagramTable(diagram: string): string {
  const next = new Map<string, string[]>();
  for (const line of diagram.trim().split('\n').slice(1)) {
    const [, from, to, label] = TRANSITION.exec(line) ?? [];
    if (from === undefined || to === undefined) throw new Error(`not a transition: ${line}`);
    const target = to === OUTSIDE ? 'end' : `\`${to}\``;
    next.set(from, [...(next.get(from) ?? []), label === undefined ? target : `${target} (${label})`]);
  }
  const rows = [...next].map(([from, targets]) => {
    const name = from === OUTSIDE ? 'start' : `\`${from}\``;
    return `| ${name} | ${targets.join(', ')} |`;
  });
  return ['| State | Next |', '| --- | --- |', ...rows, ''].join('\n');
}
