import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { Search, SearchName } from './search.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Cursors of the newer pages of a list, the newest first; '' is the first page. */
    trail?: readonly string[];
  }
}

type Changes = { [Name in SearchName]?: string | undefined };
type ChangeOptions = { addHistoryEntry?: boolean; trail?: readonly string[] };

/** Filters are kept in the URL, so that they survive a reload and can be shared. */
export function useFilters() {
  const filters: Search = useSearch({ strict: false });
  const navigate = useNavigate();

  /**
   * Resets the page cursor, and the trail of cursors of newer pages unless it is given. Only `addHistoryEntry` lets the
   * back button return to the previous state.
   */
  const change = useCallback(
    (changes: Changes, { addHistoryEntry = false, trail = [] }: ChangeOptions = {}): void => {
      void navigate({
        to: '.',
        search: (before: Search) => withChanges(before, changes),
        state: { trail },
        replace: !addHistoryEntry,
        resetScroll: addHistoryEntry,
      });
    },
    [navigate],
  );

  /** Value and handler of the field that edits one filter. */
  const field = (name: SearchName) => ({
    value: filters[name],
    onChange: (value: string | undefined) => change({ [name]: value }),
  });

  return { filters, change, field };
}

function withChanges(before: Search, changes: Changes): Search {
  const search = Object.entries({ ...before, after: undefined, ...changes });
  return Object.fromEntries(search.filter(([, value]) => value !== undefined && value !== ''));
}
