import { Stack, Text } from '@mantine/core';
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, hasCode } from '../api/api-error.ts';
import { Dialog } from '../shared/forms/Dialog.tsx';
import { ProofForm } from './ProofForm.tsx';

/** Resolves when the user has confirmed their identity, rejects when they close the dialog. */
export type RequestProof = (error: ApiError) => Promise<void>;

export const ProofContext = createContext<RequestProof>(async (error) => {
  throw error;
});

type ProofRequest = { secondFactor: boolean; onProved(): void; onCancelled(): void };

/** The dialog opens above the one that made the call, which keeps its input and continues afterwards. */
export function useProofDialog(): { requestProof: RequestProof; dialog: ReactNode } {
  const [request, setRequest] = useState<ProofRequest>();
  const pending = useRef<Promise<void>>(undefined);
  useEffect(() => () => request?.onCancelled(), [request]);

  const requestProof = useCallback((error: ApiError) => {
    // Concurrent calls share one dialog.
    pending.current ??= new Promise<void>((resolve, reject) =>
      setRequest({
        secondFactor: hasCode(error, 'second_factor_required'),
        onProved: resolve,
        onCancelled: () => reject(cancelled(error)),
      }),
    ).finally(() => {
      pending.current = undefined;
      setRequest(undefined);
    });
    return pending.current;
  }, []);

  const dialog = request ? (
    <Dialog above title="Confirm your identity" onClose={request.onCancelled}>
      <Stack>
        <Text size="sm">
          {request.secondFactor
            ? 'Your Organization requires a second factor for this change.'
            : 'This change requires a recent login. You will not be asked again for 5 minutes.'}
        </Text>
        <ProofForm secondFactor={request.secondFactor} onProved={request.onProved} />
      </Stack>
    </Dialog>
  ) : null;
  return { requestProof, dialog };
}

function cancelled({ status, code }: ApiError): ApiError {
  return new ApiError('You did not confirm your identity. Nothing was changed.', { status, code });
}

/** Repeats a call with the session cookie after the proof that it requires. */
export function useWithProof(): <Result>(call: () => Promise<Result>) => Promise<Result> {
  const requestProof = use(ProofContext);
  return useCallback(
    async (call) => {
      try {
        return await call();
      } catch (error) {
        if (!hasCode(error, 'proof_required')) throw error;
        await requestProof(error);
        return await call();
      }
    },
    [requestProof],
  );
}
