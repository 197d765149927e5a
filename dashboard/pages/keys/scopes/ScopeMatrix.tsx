import { Table, Text } from '@mantine/core';
import { Fragment } from 'react';
import { ScopeCheckbox } from './ScopeCheckbox.tsx';
import styles from './ScopeMatrix.module.css';
import { ACTIONS, categoriesOf, describeScope, labelOf, type Resource } from './scope-labels.ts';

/** Height of the sticky title above: of the dialog, or of the page. */
const HEADER_PX = 60;

export function ScopeMatrix({
  all,
  value,
  onChange,
}: {
  all: readonly string[];
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  const state = { value, onChange };
  const scopesOf = ({ name }: Resource) => all.filter((scope) => scope.startsWith(`${name}:`));
  return (
    <Table
      verticalSpacing={6}
      horizontalSpacing="xs"
      aria-label="Scopes"
      className={styles.matrix}
      stickyHeader
      stickyHeaderOffset={HEADER_PX}
    >
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col" className={styles.resourceHead}>
            <Text size="xs" fw={600}>
              Resource
            </Text>
          </Table.Th>
          {ACTIONS.map(({ name, label, description }) => (
            <Table.Th key={name} scope="col" className={styles.action}>
              <Text size="xs" fw={600}>
                {label}
              </Text>
              <Text size="xs" c="dimmed" mb={6}>
                {description}
              </Text>
              <ScopeCheckbox
                {...state}
                scopes={all.filter((scope) => scope.endsWith(`:${name}`))}
                name={`All ${name} scopes: ${description}`}
              />
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {categoriesOf(all).map(({ title, resources }) => (
          <Fragment key={title}>
            <Table.Tr>
              <Table.Th colSpan={1 + ACTIONS.length} scope="rowgroup" className={styles.category}>
                <ScopeCheckbox {...state} scopes={resources.flatMap(scopesOf)} label={title} />
              </Table.Th>
            </Table.Tr>
            {resources.map((resource) => (
              <Table.Tr key={resource.name}>
                <Table.Th scope="row" fw={400}>
                  <Text size="sm" className={styles.resource}>
                    {labelOf(resource)}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {summarize(resource, value) ?? resource.description}
                  </Text>
                </Table.Th>
                {ACTIONS.map(({ name }) => {
                  const scope = `${resource.name}:${name}`;
                  return (
                    <Table.Td key={name} className={styles.action}>
                      {all.includes(scope) ? (
                        <ScopeCheckbox
                          {...state}
                          scopes={[scope]}
                          name={`${scope}: ${describeScope(resource, name)}`}
                        />
                      ) : null}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Fragment>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** "Can list and retrieve transfers; create transfers" */
function summarize(resource: Resource, value: readonly string[]): string | undefined {
  const checked = ACTIONS.filter(({ name }) => value.includes(`${resource.name}:${name}`));
  if (checked.length === 0) return undefined;
  return `Can ${checked.map(({ name }) => describeScope(resource, name)).join('; ')}`;
}
