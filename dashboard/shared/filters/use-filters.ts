import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Search, SearchName } from './search.ts';

type Changes = { [Name in SearchName]?: string | undefined };

/** Filters are kept in the URL, so that they survive a reload and can be shared. */
export function useFilters() {
  const filters: Search = useSearch({ strict: false });
  const navigate = useNavigate();

  /** Resets the page cursor. Only `addHistoryEntry` lets the back button return to the previous state. */
  function change(changes: Changes, { addHistoryEntry = false }: { addHistoryEntry?: boolean } = {}): void {
    const search = { ...filters, after: undefined, ...changes };
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    void navigate({
      to: '.',
      search: Object.fromEntries(given),
      replace: !addHistoryEntry,
      resetScroll: addHistoryEntry,
    });
  }

  return { filters, change };
}
