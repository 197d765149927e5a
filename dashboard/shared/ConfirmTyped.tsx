import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Failure } from './Failure.tsx';

/** For what cannot be undone: the name has to be typed before the button works. */
export function ConfirmTyped({
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
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === word) confirm.mutate();
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
                Type <strong>{word}</strong> to confirm
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
          />
          {confirm.error ? <Failure error={confirm.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red" disabled={typed !== word} loading={confirm.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
