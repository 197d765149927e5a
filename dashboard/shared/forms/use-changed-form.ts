import { type MouseEvent, type SyntheticEvent, useRef } from 'react';

/** For an element around a form: after `handlers` have seen an input, `isChanged` returns true while the form is shown. */
export function useChangedForm() {
  const changedForm = useRef<HTMLFormElement>(null);
  const markChanged = ({ currentTarget }: SyntheticEvent<HTMLElement>) => {
    changedForm.current = currentTarget.querySelector('form');
  };
  return {
    // The next step has removed the form of the previous one.
    isChanged: () => changedForm.current?.isConnected === true,
    handlers: {
      onInput: markChanged,
      // Options of a select are outside of its form and cause no input event.
      onClick: (event: MouseEvent<HTMLElement>) => {
        if ((event.target as Element).closest('[role=option]')) markChanged(event);
      },
    },
  };
}
