import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../text/Icon.tsx';
import { ManageFiltersDialog } from './ManageFiltersDialog.tsx';
import { SaveFilterDialog } from './SaveFilterDialog.tsx';
import type { SearchName } from './search.ts';
import { useFilters } from './use-filters.ts';
import { useListName, useSavedFilters } from './use-saved-filters.ts';

/** Filters that the user saved for this list; they follow the user to other browsers. */
export function SavedFilters({
  names,
  list: givenList,
  isSet,
}: {
  names: readonly SearchName[];
  list: string | undefined;
  isSet: boolean;
}) {
  const { filters, change } = useFilters();
  const list = useListName(givenList);
  const { saved, error } = useSavedFilters(list);
  const [dialog, setDialog] = useState<'save' | 'manage'>();
  const close = () => setDialog(undefined);
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  const given = names.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]]));
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            variant="default"
            size="sm"
            fw={500}
            style={{ justifySelf: 'start' }}
            rightSection={<Icon name="chevron" size={14} />}
          >
            Saved filters
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.map((each) => (
            <Menu.Item key={each.guid} onClick={() => change({ ...none, ...each.filters })}>
              {each.name}
            </Menu.Item>
          ))}
          {saved.length === 0 ? (
            <Menu.Label>{error ? 'Could not load saved filters' : 'No saved filters yet'}</Menu.Label>
          ) : null}
          <Menu.Divider />
          <Menu.Item disabled={!isSet} onClick={() => setDialog('save')}>
            Save current filters…
          </Menu.Item>
          {saved.length > 0 ? <Menu.Item onClick={() => setDialog('manage')}>Manage…</Menu.Item> : null}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'save' ? (
        <SaveFilterDialog list={list} filters={Object.fromEntries(given)} saved={saved} onClose={close} />
      ) : null}
      {dialog === 'manage' ? <ManageFiltersDialog saved={saved} onClose={close} /> : null}
    </>
  );
}
