import { Badge, Combobox, Group, Stack, Text } from '@mantine/core';
import { Icon, type IconName } from '../../shared/text/Icon.tsx';

export function SearchOption({
  id,
  label,
  icon,
  kind,
  detail,
  note,
  disabled = false,
}: {
  id: string;
  label: string;
  icon: IconName;
  /** What it is, for what was found by an identifier. */
  kind?: string;
  detail?: string | undefined;
  note?: string;
  disabled?: boolean;
}) {
  return (
    <Combobox.Option value={id} disabled={disabled}>
      <Group gap="sm" wrap="nowrap">
        <Icon name={icon} />
        <Stack gap={0} flex={1} miw={0}>
          <Text size="sm" truncate>
            {label}
          </Text>
          {kind === undefined ? null : (
            <Text size="xs" truncate opacity={0.8}>
              {detail === undefined ? kind : `${kind} · ${detail}`}
            </Text>
          )}
        </Stack>
        {note === undefined ? null : (
          <Badge variant="default" radius="sm" tt="none" style={{ flexShrink: 0 }}>
            {note}
          </Badge>
        )}
      </Group>
    </Combobox.Option>
  );
}
