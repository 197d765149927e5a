import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from './Panel.tsx';

/** The `LabeledValue`s of an object below the header of its page. */
export function DetailsPanel({ children }: { children: ReactNode }) {
  return (
    <Panel>
      <SimpleGrid minColWidth="12rem" spacing="lg" pt="sm">
        {children}
      </SimpleGrid>
    </Panel>
  );
}
