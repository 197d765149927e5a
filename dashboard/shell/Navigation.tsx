import { NavLink, Text } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';
import { memo } from 'react';
import { useIsSetupDone } from '../session/use-setup.ts';
import { useWorkspace, type Workspace } from '../session/workspace.ts';
import { Icon, type IconName } from '../shared/text/Icon.tsx';
import styles from './Navigation.module.css';

/** A page of the menu. */
export type PageEntry = {
  to:
    | '/overview'
    | '/events'
    | '/deliveries'
    | '/live'
    | '/alerts'
    | '/requests'
    | '/keys'
    | '/subscriptions'
    | '/sandbox'
    | '/files'
    | '/inbox'
    | '/organization'
    | '/team'
    | '/audit'
    | '/onboarding';
  label: string;
  icon: IconName;
  shown(workspace: Workspace): boolean;
};

const always = () => true;
const hasWebhooks = ({ has }: Workspace) => has('webhooks');

const GROUPS: readonly { title: string; entries: readonly PageEntry[] }[] = [
  {
    title: 'Monitor',
    entries: [
      { to: '/overview', label: 'Overview', icon: 'overview', shown: always },
      { to: '/events', label: 'Events', icon: 'events', shown: hasWebhooks },
      { to: '/deliveries', label: 'Deliveries', icon: 'send', shown: hasWebhooks },
      { to: '/live', label: 'Live', icon: 'live', shown: hasWebhooks },
      { to: '/alerts', label: 'Alerts', icon: 'bell', shown: always },
      { to: '/requests', label: 'Requests', icon: 'requests', shown: always },
    ],
  },
  {
    title: 'Developers',
    entries: [
      { to: '/keys', label: 'API keys', icon: 'key', shown: always },
      {
        to: '/subscriptions',
        label: 'Subscriptions',
        icon: 'webhook',
        shown: hasWebhooks,
      },
      {
        to: '/inbox',
        label: 'Inbox',
        icon: 'inbox',
        shown: ({ has, environment }) => has('webhooks') && environment === 'sandbox',
      },
      {
        to: '/files',
        label: 'Files',
        icon: 'file',
        shown: ({ has }) => has('files'),
      },
      {
        to: '/sandbox',
        label: 'Sandbox',
        icon: 'sandbox',
        shown: ({ environment }) => environment === 'sandbox',
      },
    ],
  },
  {
    title: 'Organization',
    entries: [
      { to: '/organization', label: 'Organization', icon: 'bank', shown: always },
      { to: '/team', label: 'Team', icon: 'team', shown: always },
      { to: '/audit', label: 'Audit log', icon: 'audit', shown: ({ can }) => can('audit_entries:read') },
      {
        to: '/onboarding',
        label: 'Get started',
        icon: 'rocket',
        shown: ({ can }) => can('bank_applications:write'),
      },
    ],
  },
];

/** The pages that this person can open, in the order of the menu. */
export function pagesOf(workspace: Workspace): PageEntry[] {
  return GROUPS.flatMap(({ entries }) => entries).filter(({ shown }) => shown(workspace));
}

export function Navigation() {
  const workspace = useWorkspace();
  const pathname = useRouterState({
    select: ({ resolvedLocation, location }) => (resolvedLocation ?? location).pathname,
  });
  const isSetupDone = useIsSetupDone();
  return (
    <nav aria-label="Main">
      {GROUPS.map(({ title, entries }) => (
        <div key={title} className={styles.group}>
          <Text className={styles.title}>{title}</Text>
          {entries
            .filter(({ to, shown }) => shown(workspace) && !(to === '/onboarding' && isSetupDone))
            .map(({ to, label, icon }) => (
              <PageNavLink
                key={to}
                to={to}
                label={label}
                icon={icon}
                active={`${pathname}/`.startsWith(`${to}/`)}
              />
            ))}
        </div>
      ))}
      <div className={styles.group}>
        <NavLink
          href="/guides"
          target="_blank"
          label="Guides"
          leftSection={<Icon name="info" />}
          className={styles.link}
        />
        <NavLink
          href="/docs/"
          target="_blank"
          label="API reference"
          leftSection={<Icon name="book" />}
          className={styles.link}
        />
      </div>
    </nav>
  );
}

/** A navigation changes two of the links, and only these render again. */
const PageNavLink = memo(({ to, label, icon, active }: Omit<PageEntry, 'shown'> & { active: boolean }) => (
  <NavLink
    component={Link}
    to={to}
    label={label}
    leftSection={<Icon name={icon} />}
    active={active}
    aria-current={active ? 'page' : undefined}
    className={styles.link}
  />
));
