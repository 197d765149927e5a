import { Code, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Dialog } from './Dialog.tsx';
import { FormActions } from './FormActions.tsx';

/** For irreversible actions: the button is enabled once the name is typed. */
export function ConfirmByName({
  title,
  name,
  action,
  children,
  onConfirm,
  onClose,
}: {
  title: string;
  name: string;
  action: string;
  children: ReactNode;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const isTyped = normalizeSpaces(typed) === normalizeSpaces(name);
  return (
    <Dialog title={title} locked={confirm.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) confirm.mutate();
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          <TextInput
            data-autofocus
            label={
              <>
                Type{' '}
                <Code fz="sm" style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Code>{' '}
                to confirm
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
          />
          <FormActions
            danger
            action={action}
            disabled={!isTyped}
            pending={confirm.isPending}
            error={confirm.error}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function normalizeSpaces(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
