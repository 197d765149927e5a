import { useWorkspace } from '../../session/workspace.ts';

/** In an empty list: what is missing may be in the other environment. */
export function OtherEnvironment({ what }: { what: string }) {
  const { banks, environment } = useWorkspace();
  const other = banks.find((bank) => bank.environment !== environment)?.environment;
  if (other === undefined) return null;
  return (
    <div>
      You see only {environment}. For {what} in {other}, select a {other} bank at the top of the page.
    </div>
  );
}
