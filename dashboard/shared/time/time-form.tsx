import { useLocalStorage } from '@mantine/hooks';
import { createContext, type ReactNode, use } from 'react';

const TIME_FORMS = ['relative', 'local', 'utc'] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

type Setting = { form: TimeForm; setForm(form: TimeForm): void };

const TimeFormContext = createContext<Setting>({ form: 'relative', setForm: () => undefined });

/** The form in which this browser shows times. Tables have hundreds of times, which share one storage listener. */
export function TimeFormProvider({ children }: { children: ReactNode }) {
  const [form, setForm] = useLocalStorage<TimeForm>({
    key: 'portico.time-form',
    defaultValue: 'relative',
    getInitialValueInEffect: false,
    serialize: (value) => value,
    deserialize: (text) => TIME_FORMS.find((known) => known === text) ?? 'relative',
  });
  return <TimeFormContext value={{ form, setForm }}>{children}</TimeFormContext>;
}

export function useTimeForm(): Setting {
  return use(TimeFormContext);
}
