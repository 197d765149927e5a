import { useState } from 'react';

/** The text of a field whose value is applied later; follows a value that changes otherwise. */
export function useTyped(value: string | undefined): [typed: string, setTyped: (text: string) => void] {
  const [typed, setTyped] = useState(value ?? '');
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    setTyped(value ?? '');
  }
  return [typed, setTyped];
}
