import { Kbd, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Suspense } from 'react';
import { useHasSessionEnded } from '../../session/session.ts';
import { lazyComponent } from '../../shared/loading/lazy-component.ts';
import { DialogNotLoaded } from '../../shared/loading/NotLoaded.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import styles from './Search.module.css';

const SearchDialog = lazyComponent(
  async () => (await import('./SearchDialog.tsx')).SearchDialog,
  ({ onClose }) => <DialogNotLoaded title="Search" onClose={onClose} />,
);
const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

/** Opens the search by click or shortcut, also while an input has the focus. */
export function SearchButton() {
  const [opened, { open, close }] = useDisclosure();
  // The login of an ended session covers the dialog, which would take the focus nevertheless.
  const hasEnded = useHasSessionEnded();
  useHotkeys(hasEnded ? [] : [['mod+K', open]], []);
  return (
    <>
      <UnstyledButton className={styles.button} onClick={open} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" size={16} />
        <Text span size="sm" className={styles.label}>
          Search
        </Text>
        <Kbd size="xs" className={styles.shortcut} aria-hidden>
          {SHORTCUT}
        </Kbd>
      </UnstyledButton>
      {opened ? (
        <Suspense>
          <SearchDialog onClose={close} />
        </Suspense>
      ) : null}
    </>
  );
}
