import { Combobox, Loader, Modal, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { useReturnFocus } from '../../shared/forms/use-return-focus.ts';
import {
  bankFor,
  destinationOf,
  FOUND_LABELS,
  isIdentifier,
  pageOfLink,
} from '../../shared/lookup/destination.ts';
import { useLookup } from '../../shared/lookup/use-lookup.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import styles from './Search.module.css';
import { SearchOption } from './SearchOption.tsx';
import { type Command, matching, useCommands, useGo } from './use-commands.ts';

const MAX_COMMANDS = 8;
/** One call when the user pauses typing, not one per character. */
const PAUSE_MS = 200;

type Entry = Command & { kind?: string; detail?: string | undefined; note?: string; disabled?: boolean };

/** Finds pages and actions by name, and everything else by its identifier. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  return (
    <Modal.Root opened onClose={onClose} size="lg" yOffset="10vh">
      <Modal.Overlay />
      <Modal.Content aria-label="Search">
        <Modal.Body p={0}>
          <SearchBox onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function SearchBox({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const wanted = text.trim();
  const commands = useCommands();
  const { found, link, isSearching, error } = useFound(wanted);
  const byName = isIdentifier(wanted) ? [] : matching(commands, wanted, MAX_COMMANDS);
  const entries: readonly Entry[] = [...link, ...found, ...byName];
  const combobox = useCombobox({ opened: true });
  const { selectFirstOption, resetSelectedOption } = combobox;
  const ids = entries.map(({ id }) => id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first option is selected whenever the options change
  useEffect(() => {
    resetSelectedOption();
    selectFirstOption();
  }, [ids]);
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(id) => {
        onClose();
        entries.find((entry) => entry.id === id)?.run();
      }}
    >
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          data-autofocus
          className={styles.input}
          size="lg"
          variant="unstyled"
          role="combobox"
          aria-label="Search"
          placeholder="ID, email, URL, page or action"
          leftSection={<Icon name="search" />}
          rightSection={isSearching ? <Loader size="xs" /> : null}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          // The combobox keeps the key from the dialog.
          onKeyDown={({ key }) => {
            if (key === 'Escape') onClose();
          }}
        />
      </Combobox.EventsTarget>
      {error ? <ErrorAlert error={error} title="Search failed" /> : null}
      <Combobox.Options aria-label="Results" p="xs" className={styles.options}>
        {entries.map((entry) => (
          <SearchOption key={entry.id} {...entry} />
        ))}
        {entries.length === 0 && !isSearching && !error ? (
          <Combobox.Empty>
            {isIdentifier(wanted)
              ? 'Nothing with this identifier in your Organization, in either environment.'
              : 'No page or action matches. Paste an ID, an email address or a URL to find it.'}
          </Combobox.Empty>
        ) : null}
      </Combobox.Options>
    </Combobox>
  );
}

/** What the server knows by this identifier, and the page of a link to this dashboard. */
function useFound(wanted: string) {
  const { banks, environment } = useWorkspace();
  const go = useGo();
  const [paused] = useDebouncedValue(wanted, PAUSE_MS);
  const page = pageOfLink(wanted, location.origin);
  const enabled = isIdentifier(wanted) && page === undefined;
  const { data, error, isFetching } = useLookup(paused, { enabled: enabled && paused === wanted });
  const found = (enabled && paused === wanted ? (data?.objects ?? []) : []).map((each): Entry => {
    const { to, search } = destinationOf(each);
    const bank = bankFor(each, banks, environment);
    const isElsewhere = each.environment !== undefined && each.environment !== environment;
    const { label: kind, icon } = FOUND_LABELS[each.type];
    return {
      ...{ id: each.guid, kind, icon, label: each.name, detail: each.detail },
      ...(isElsewhere
        ? { note: bank ? `Switches to ${each.environment}` : `No bank in ${each.environment}` }
        : {}),
      disabled: isElsewhere && bank === undefined,
      run: () => go({ to, search: { ...search, ...(bank === undefined ? {} : { bank }) } }),
    };
  });
  const link: Entry[] = page
    ? [{ id: 'link', kind: 'Page', label: page.to, icon: 'right', run: () => go(page) }]
    : [];
  return {
    found,
    link,
    isSearching: enabled && (isFetching || paused !== wanted),
    error: enabled ? error : null,
  };
}
