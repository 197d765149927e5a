/** Sets a key of a Map of bounded size. The oldest key is evicted: a Map iterates in insertion order. */
export function setBounded<Value>(memory: Map<string, Value>, key: string, value: Value, most: number): void {
  const [oldest] = memory.keys();
  if (!memory.has(key) && memory.size >= most && oldest !== undefined) memory.delete(oldest);
  memory.set(key, value);
}
