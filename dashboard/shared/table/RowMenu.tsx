import { ActionIcon, Menu } from '@mantine/core';
import { Icon, type IconName } from '../text/Icon.tsx';

type Item = { label: string; icon: IconName; onClick: () => void };

export function RowMenu({
  name,
  items,
  danger,
}: {
  name: string;
  items: readonly Item[];
  danger?: Item | undefined;
}) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <Icon name="dots" size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, icon, onClick }) => (
          <Menu.Item key={label} leftSection={<Icon name={icon} size={15} />} onClick={onClick}>
            {label}
          </Menu.Item>
        ))}
        {danger && items.length > 0 ? <Menu.Divider /> : null}
        {danger ? (
          <Menu.Item color="red" leftSection={<Icon name={danger.icon} size={15} />} onClick={danger.onClick}>
            {danger.label}
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
