import { useLocalStorage } from '@mantine/hooks';

export const PAGE_SIZES = ['50', '100'] as const;
export type PageSize = (typeof PAGE_SIZES)[number];

/** Rows of a page in every table of this browser. */
export function usePageSize() {
  return useLocalStorage<PageSize>({
    key: 'portico.page-size',
    defaultValue: '50',
    getInitialValueInEffect: false,
    serialize: (value) => value,
    deserialize: (text) => PAGE_SIZES.find((known) => known === text) ?? '50',
  });
}
