import { Combobox, Group, Skeleton, Text, UnstyledButton, useCombobox } from '@mantine/core';
import { useState } from 'react';
import type { Bank, Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import styles from './BankSelector.module.css';

const SEARCHABLE_FROM = 8;

export function BankSelector() {
  const { banks, areBanksLoaded, bank, chooseBank } = useWorkspace();
  const [search, setSearch] = useState('');
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSearch('');
    },
    onDropdownOpen: () => combobox.updateSelectedOptionIndex('active'),
  });
  const needle = search.trim().toLowerCase();
  const shown = banks.filter(({ name, guid }) => `${name} ${guid}`.toLowerCase().includes(needle));

  if (!areBanksLoaded) return <Skeleton width={120} height={30} />;
  return (
    <Combobox
      store={combobox}
      width={280}
      position="bottom-end"
      onOptionSubmit={(guid) => {
        const chosen = banks.find((candidate) => candidate.guid === guid);
        if (chosen) chooseBank(chosen);
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target targetType="button">
        <UnstyledButton
          className={styles.button}
          onClick={() => combobox.toggleDropdown()}
          disabled={banks.length === 0}
          aria-label={bank ? `Bank: ${bank.name}` : 'No banks yet'}
        >
          <span className={styles.icon}>
            <Icon name="bank" size={16} />
          </span>
          <Text size="sm" fw={550} truncate className={styles.name}>
            {bank?.name ?? 'No banks yet'}
          </Text>
          <Icon name="chevron" size={15} />
        </UnstyledButton>
      </Combobox.Target>
      <Combobox.Dropdown>
        {banks.length >= SEARCHABLE_FROM ? (
          <Combobox.Search
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            placeholder="Find a bank"
            aria-label="Find a bank"
          />
        ) : null}
        <Combobox.Options mah={320} style={{ overflowY: 'auto' }} aria-label="Banks">
          <BankGroup label="Sandbox" environment="sandbox" banks={shown} chosen={bank} />
          <BankGroup label="Production" environment="production" banks={shown} chosen={bank} />
          {shown.length === 0 ? <Combobox.Empty>No banks match</Combobox.Empty> : null}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function BankGroup({
  label,
  environment,
  banks,
  chosen,
}: {
  label: string;
  environment: Environment;
  banks: readonly Bank[];
  chosen: Bank | undefined;
}) {
  const own = banks.filter((bank) => bank.environment === environment);
  if (own.length === 0) return null;
  return (
    <Combobox.Group label={label}>
      {own.map(({ guid, name }) => (
        <Combobox.Option key={guid} value={guid} active={guid === chosen?.guid}>
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <Text size="sm" truncate>
              {name}
            </Text>
            {guid === chosen?.guid ? <Icon name="check" size={15} /> : null}
          </Group>
        </Combobox.Option>
      ))}
    </Combobox.Group>
  );
}
