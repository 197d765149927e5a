/** Remembers in a Map of bounded size. The oldest makes room: a Map keeps the order in which its keys came. */
export function setBounded<Value>(memory: Map<string, Value>, key: string, value: Value, most: number): void {
  const [oldest] = memory.keys();
  if (!memory.has(key) && memory.size >= most && oldest !== undefined) memory.delete(oldest);
  memory.set(key, value);
}
