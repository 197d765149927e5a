/** Collects items, newest first, and passes on the newest of them once per interval. */
export function createBatch<Item>(
  { intervalMs, maxItems }: { intervalMs: number; maxItems: number },
  pass: (items: readonly Item[]) => void,
) {
  let items: readonly Item[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (items.length > 0) pass(items);
    items = [];
  }

  return {
    add(item: Item): void {
      // Browsers delay the timers of hidden tabs by up to a minute.
      items = [item, ...items].slice(0, maxItems);
      timer ??= setTimeout(flush, intervalMs);
    },
    flush,
  };
}
