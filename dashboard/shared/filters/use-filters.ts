import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Search, SearchName } from './search.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Cursors of the newer pages of a list, the newest first; '' is the first page. */
    trail?: readonly string[];
  }
}

type Changes = { [Name in SearchName]?: string | undefined };

/** Filters are kept in the URL, so that they survive a reload and can be shared. */
export function useFilters() {
  const filters: Search = useSearch({ strict: false });
  const navigate = useNavigate();

  /**
   * Resets the page cursor, and the trail of cursors of newer pages unless it is given. Only `addHistoryEntry` lets the
   * back button return to the previous state.
   */
  function change(
    changes: Changes,
    { addHistoryEntry = false, trail = [] }: { addHistoryEntry?: boolean; trail?: readonly string[] } = {},
  ): void {
    const search = { ...filters, after: undefined, ...changes };
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    void navigate({
      to: '.',
      search: Object.fromEntries(given),
      state: { trail },
      replace: !addHistoryEntry,
      resetScroll: addHistoryEntry,
    });
  }

  /** Value and handler of the field that edits one filter. */
  const field = (name: SearchName) => ({
    value: filters[name],
    onChange: (value: string | undefined) => change({ [name]: value }),
  });

  return { filters, change, field };
}
