import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Search, SearchName } from './search.ts';

type Changes = { [Name in SearchName]?: string | undefined };

/** The filters of the page, kept in the address: they survive a reload and can be sent to a colleague. */
export function useFilters() {
  const filters: Search = useSearch({ strict: false });
  const navigate = useNavigate();

  /** A new filter begins at the newest; only turning a page leaves a step for the browser to go back to. */
  function change(
    changes: Changes,
    { retainOrganizationAndBank = true }: { retainOrganizationAndBank?: boolean } = {},
  ): void {
    const search = { ...filters, after: undefined, ...changes };
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    void navigate({
      to: '.',
      search: Object.fromEntries(given),
      replace: retainOrganizationAndBank,
      resetScroll: !retainOrganizationAndBank,
    });
  }

  return { filters, change };
}
