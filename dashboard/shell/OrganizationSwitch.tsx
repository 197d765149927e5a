import { Menu, Text, UnstyledButton } from '@mantine/core';
import { ROLE_LABELS } from '../api/permissions.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/text/Icon.tsx';
import styles from './OrganizationSwitch.module.css';

export function OrganizationSwitch() {
  const { session, organization, chooseOrganization } = useWorkspace();
  const content = (
    <>
      <span className={styles.initial} aria-hidden="true">
        {organization.name.slice(0, 1).toUpperCase()}
      </span>
      <span className={styles.names}>
        <Text size="sm" fw={600} truncate>
          {organization.name}
        </Text>
        <Text size="xs" c="dimmed">
          {ROLE_LABELS[organization.role]}
        </Text>
      </span>
    </>
  );
  if (session.organizations.length === 1) return <div className={styles.box}>{content}</div>;
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <UnstyledButton className={styles.box} aria-label={`Organization: ${organization.name}`}>
          {content}
          <Icon name="chevron" size={15} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {session.organizations.map(({ guid, name, role }) => (
          <Menu.Item key={guid} onClick={() => chooseOrganization(guid)}>
            {name}
            <Text size="xs" c="dimmed">
              {ROLE_LABELS[role]}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
