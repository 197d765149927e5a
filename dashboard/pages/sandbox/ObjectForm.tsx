import { Fieldset, SimpleGrid, Stack, TagsInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { type Field, INPUT_ORDER, type Values } from './fields/fields.ts';
import { ObjectField } from './fields/ObjectField.tsx';
import { changedValues, errorsOf, shownFields } from './form-values.ts';

const MAX_LABELS = 10;
const MAX_LABEL_CHARACTERS = 50;

export function ObjectForm({
  fields,
  initial,
  initialLabels,
  action,
  pending,
  error,
  onSubmit,
  onCancel,
  children,
}: {
  fields: readonly Field[];
  initial: Values;
  /** Without it the form has no labels. */
  initialLabels?: string[];
  action: string;
  pending: boolean;
  error: unknown;
  onSubmit: (values: Values, labels: string[]) => void;
  onCancel: () => void;
  /** Fields below. */
  children?: ReactNode;
}) {
  const form = useForm<Values>({ initialValues: initial, validate: (values) => errorsOf(fields, values) });
  const [labels, setLabels] = useState(initialLabels ?? []);
  const shown = shownFields(fields, form.values);
  const shownValues = Object.fromEntries(shown.map(({ name }) => [name, form.values[name] ?? '']));
  const groups = [...new Set(shown.map(({ group }) => group))];
  const change = (name: string, value: string) => {
    form.setValues(changedValues(fields, form.values, name, value));
    form.clearErrors();
  };
  const grid = (group: string | undefined) => {
    const own = shown.filter((field) => field.group === group);
    const columns = group !== undefined && own.length === 3 ? 3 : 2;
    return (
      <SimpleGrid key={group ?? ''} cols={{ base: 1, sm: columns }}>
        {own.map((field) => (
          <ObjectField
            key={field.name}
            field={field}
            value={shownValues[field.name] ?? ''}
            formValues={shownValues}
            error={form.errors[field.name]}
            onChange={(value) => change(field.name, value)}
          />
        ))}
      </SimpleGrid>
    );
  };
  return (
    <form onSubmit={form.onSubmit((values) => onSubmit(values, labels))}>
      <Stack>
        {groups.map((group) =>
          group === undefined ? (
            grid(group)
          ) : (
            <Fieldset key={group} legend={group} mx={0}>
              {grid(group)}
            </Fieldset>
          ),
        )}
        {initialLabels ? (
          <TagsInput
            label="Labels"
            inputWrapperOrder={INPUT_ORDER}
            description={`Press Enter after each. Up to ${MAX_LABELS} labels of ${MAX_LABEL_CHARACTERS} characters.`}
            maxTags={MAX_LABELS}
            maxLength={MAX_LABEL_CHARACTERS}
            value={labels}
            onChange={setLabels}
          />
        ) : null}
        {children}
        <FormActions action={action} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
