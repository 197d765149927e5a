import { Stack, Text } from '@mantine/core';
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, hasCode } from '../api/api-error.ts';
import { Dialog } from '../shared/forms/Dialog.tsx';
import { ProofForm } from './ProofForm.tsx';

/** Resolves once the person has confirmed that it is them, and rejects when they would not. */
export type AskForProof = (problem: ApiError) => Promise<void>;

export const ProofContext = createContext<AskForProof>(async (problem) => {
  throw problem;
});

type Asked = { secondFactor: boolean; proved(): void; givenUp(): void };

/** The question, over the dialog that it came from, which keeps what was typed and goes on afterwards. */
export function useProofDialog(): { ask: AskForProof; dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked>();
  const asking = useRef<Promise<void>>(undefined);
  useEffect(() => () => asked?.givenUp(), [asked]);

  const ask = useCallback((problem: ApiError) => {
    // Calls of the same moment share one question.
    asking.current ??= new Promise<void>((resolve, reject) =>
      setAsked({
        secondFactor: hasCode(problem, 'second_factor_required'),
        proved: resolve,
        givenUp: () => reject(notConfirmed(problem)),
      }),
    ).finally(() => {
      asking.current = undefined;
      setAsked(undefined);
    });
    return asking.current;
  }, []);

  const dialog = asked ? (
    <Dialog above title="Confirm that it is you" onClose={asked.givenUp}>
      <Stack>
        <Text size="sm">
          {asked.secondFactor
            ? 'Your Organization requires a second factor for this.'
            : 'This change needs a recent confirmation. You will not be asked again for 5 minutes.'}
        </Text>
        <ProofForm secondFactor={asked.secondFactor} onProved={asked.proved} />
      </Stack>
    </Dialog>
  ) : null;
  return { ask, dialog };
}

function notConfirmed({ status, code }: ApiError): ApiError {
  return new ApiError('You did not confirm that it is you. Nothing was changed.', { status, code });
}

/** For calls with the session that may need a fresh proof: it is asked for, and the call made again. */
export function useWithProof(): <Answer>(call: () => Promise<Answer>) => Promise<Answer> {
  const ask = use(ProofContext);
  return useCallback(
    async (call) => {
      try {
        return await call();
      } catch (error) {
        if (!hasCode(error, 'proof_required')) throw error;
        await ask(error);
        return await call();
      }
    },
    [ask],
  );
}
