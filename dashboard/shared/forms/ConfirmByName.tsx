import { Code, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Dialog } from './Dialog.tsx';
import { FormActions } from './FormActions.tsx';

/** For what cannot be undone: the name has to be typed before the button works. */
export function ConfirmByName({
  title,
  word,
  action,
  children,
  onConfirm,
  onClose,
}: {
  title: string;
  word: string;
  action: string;
  children: ReactNode;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const isTyped = asSeen(typed) === asSeen(word);
  return (
    <Dialog title={title} held={confirm.isPending} onClose={onClose}>
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
                Type <Code fz="sm">{word}</Code> to confirm
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

/** Nobody can see how many spaces there are. */
function asSeen(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
