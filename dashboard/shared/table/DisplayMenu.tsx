import { Button, Menu } from '@mantine/core';
import { Icon } from '../text/Icon.tsx';
import { TIME_FORMS, type TimeForm, useTimeForm } from '../time/time-form.tsx';
import { PAGE_SIZES, type PageSize, usePageSize } from './use-page-size.ts';

const LABELS: Record<TimeForm, string> = { relative: 'Relative', local: 'Local time', utc: 'UTC' };

/** Settings of all tables in this browser. */
export function DisplayMenu() {
  const { form, setForm } = useTimeForm();
  const [pageSize, setPageSize] = usePageSize();
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          fw={500}
          leftSection={<Icon name="settings" size={14} />}
        >
          Display
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={form} onChange={(value) => setForm(value as TimeForm)}>
          <Menu.Label>Times</Menu.Label>
          {TIME_FORMS.map((value) => (
            <Menu.RadioItem key={value} value={value}>
              {LABELS[value]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.RadioGroup value={pageSize} onChange={(value) => setPageSize(value as PageSize)}>
          <Menu.Label>Rows per page</Menu.Label>
          {PAGE_SIZES.map((value) => (
            <Menu.RadioItem key={value} value={value}>
              {value}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
