import { useEffect, useState } from 'react';
import { readSelection, type Selection, saveSelection } from './local-storage.ts';

/**
 * The item named in the URL, else the one last selected in this browser, else the first. Storage is read only once, so
 * that a selection in another tab or a reordered list does not switch this tab.
 */
export function useSelected<Item extends { guid: string }>(
  selection: Selection,
  items: readonly Item[],
  guidInUrl: string | undefined,
): Item | undefined {
  const [shownGuid, setShownGuid] = useState(() => readSelection(selection));
  const fromUrl = items.find(({ guid }) => guid === guidInUrl);
  const item = fromUrl ?? items.find(({ guid }) => guid === shownGuid) ?? items[0];
  if (item && !fromUrl && item.guid !== shownGuid) setShownGuid(item.guid);
  // Saved from the URL, not on click: the navigation guard may have rejected the selection.
  const selectedGuid = fromUrl?.guid;
  useEffect(() => {
    if (selectedGuid !== undefined) saveSelection(selection, selectedGuid);
  }, [selection, selectedGuid]);
  return item;
}
