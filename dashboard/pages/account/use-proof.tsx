import { type ReactNode, useEffect, useState } from 'react';
import { hasCode } from '../../api/problem.ts';
import { ProofForm } from './ProofForm.tsx';

type Asked = { proved(): void; givenUp(): void };

/** What a dialog shows while its person has to prove who they are: in place of its own title and content. */
type Question = { title: string; form: ReactNode };

/** For calls that the service may refuse without a fresh proof: it is asked for, and the call made again. */
export function useProof(): {
  withProof<Answer>(call: () => Promise<Answer>): Promise<Answer>;
  question: Question | undefined;
} {
  const [asked, setAsked] = useState<Asked>();
  // Whoever closes the dialog does not answer.
  useEffect(() => () => asked?.givenUp(), [asked]);
  return {
    async withProof(call) {
      try {
        return await call();
      } catch (error) {
        if (!hasCode(error, 'proof_required')) throw error;
        await new Promise<void>((resolve, reject) =>
          setAsked({ proved: resolve, givenUp: () => reject(error) }),
        );
        setAsked(undefined);
        return await call();
      }
    },
    question: asked && { title: 'Confirm that it is you', form: <ProofForm onProved={asked.proved} /> },
  };
}
