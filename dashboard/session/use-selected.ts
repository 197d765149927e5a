import { useEffect, useState } from 'react';
import { readSelection, saveSelection } from './local-storage.ts';

/**
 * The one that the address names, else the one that this browser looked at last, else the first. Storage is read once
 * and what is shown is held on to: another tab, or another first one in the list, moves nobody.
 */
export function useSelected<Item extends { guid: string }>(
  what: 'organization' | 'bank',
  items: readonly Item[],
  named: string | undefined,
): Item | undefined {
  const [own, setOwn] = useState(() => readSelection(what));
  const byAddress = items.find(({ guid }) => guid === named);
  const item = byAddress ?? items.find(({ guid }) => guid === own) ?? items[0];
  if (item && !byAddress && item.guid !== own) setOwn(item.guid);
  // Only what the address came to name: a choice that was held back is none.
  const chosen = byAddress?.guid;
  useEffect(() => {
    if (chosen !== undefined) saveSelection(what, chosen);
  }, [what, chosen]);
  return item;
}
