import { ActionIcon, Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import { useLogOut } from './use-log-out.ts';

export function AccountMenu() {
  const { session } = useWorkspace();
  const logOut = useLogOut();
  const { name, email } = session.member;
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Account: ${name ?? email}`}>
          <Icon name="account" size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name ?? email}
          </Text>
          {name ? (
            <Text size="xs" truncate>
              {email}
            </Text>
          ) : null}
        </Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<Icon name="shield" size={16} />}>
          Account and security
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="logout" size={16} />} onClick={logOut}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
