import { AppShell, Burger, Group, ScrollArea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';
import { memo, type ReactNode, useEffect } from 'react';
import { useWorkspace } from '../session/workspace.ts';
import { AccountMenu } from './header/AccountMenu.tsx';
import { AlertBell } from './header/AlertBell.tsx';
import { BankSelector } from './header/BankSelector.tsx';
import { ColorSchemeToggle } from './header/ColorSchemeToggle.tsx';
import { EnvironmentBadge } from './header/EnvironmentBadge.tsx';
import { Logo } from './header/Logo.tsx';
import { Navigation } from './Navigation.tsx';
import { OfflineAlert } from './OfflineAlert.tsx';
import { OrganizationSwitch } from './OrganizationSwitch.tsx';
import styles from './Shell.module.css';
import { SearchButton } from './search/SearchButton.tsx';

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const pathname = useLocation({ select: (location) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the mobile menu
  useEffect(close, [pathname]);
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 244, breakpoint: 'md', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a href="#content" className={styles.skip}>
        Skip to content
      </a>
      <AppShell.Header className={styles.header}>
        <Header opened={opened} toggle={toggle} />
      </AppShell.Header>
      <AppShell.Navbar className={styles.navbar} p="sm">
        <Sidebar />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={styles.main}>
        <div className={styles.page}>
          <OfflineAlert />
          {children}
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

/** The shell renders with every navigation, its header and its sidebar only when what they show has changed. */
const Header = memo(({ opened, toggle }: { opened: boolean; toggle(): void }) => {
  const { isLocked } = useWorkspace();
  return (
    <div className={styles.bar}>
      <Burger
        opened={opened}
        onClick={toggle}
        hiddenFrom="md"
        size="sm"
        aria-label={opened ? 'Close menu' : 'Open menu'}
      />
      <Logo />
      <div className={styles.space} />
      {isLocked ? null : (
        <>
          <SearchButton />
          <EnvironmentBadge />
          <BankSelector />
        </>
      )}
      <Group gap={4} wrap="nowrap" visibleFrom="sm">
        <ColorSchemeToggle />
      </Group>
      {isLocked ? null : <AlertBell />}
      <AccountMenu />
    </div>
  );
});

const Sidebar = memo(() => (
  <>
    <OrganizationSwitch />
    <ScrollArea flex={1} mt="sm" type="auto">
      <Navigation />
    </ScrollArea>
    <Group hiddenFrom="sm" justify="space-between" pt="xs">
      <ColorSchemeToggle />
    </Group>
  </>
));
