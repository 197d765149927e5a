import { Text } from '@mantine/core';
import { useId, useState } from 'react';
import { CONTENT_TYPES } from '../../../server/files/file-types.ts';
import { Icon } from '../../shared/text/Icon.tsx';
import styles from './Dropzone.module.css';

/** Contains a real file input, so that it works with the keyboard. */
export function Dropzone({ disabled, onFiles }: { disabled: boolean; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false);
  const id = useId();
  return (
    <label
      htmlFor={id}
      className={styles.zone}
      data-over={over || undefined}
      data-disabled={disabled || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (!disabled) onFiles([...event.dataTransfer.files]);
      }}
    >
      <Icon name="upload" size={26} />
      <Text size="sm" fw={600}>
        Drop files here or click to choose
      </Text>
      <Text size="xs" c="dimmed">
        {disabled ? 'Select a customer and a type first' : 'JPEG, PNG, PDF, JSON or MP4, up to 1 GB each'}
      </Text>
      <input
        id={id}
        type="file"
        multiple
        disabled={disabled}
        accept={CONTENT_TYPES.join(',')}
        className={styles.input}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </label>
  );
}
