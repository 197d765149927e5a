import { Button, Menu, type MenuProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../text/Icon.tsx';

/** A menu above a table. */
export function ToolbarMenu({
  label,
  icon,
  children,
  ...menu
}: { label: string; icon: IconName; children: ReactNode } & Pick<MenuProps, 'closeOnItemClick'>) {
  return (
    <Menu position="bottom-end" {...menu}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          fw={500}
          leftSection={<Icon name={icon} size={14} />}
        >
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
