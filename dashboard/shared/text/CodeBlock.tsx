import styles from './CodeBlock.module.css';
import { CopyButton } from './CopyButton.tsx';

/** `copied` replaces a code that masks a secret. `source` keeps the lines of a program and limits its height. */
export function CodeBlock({
  code,
  copied = code,
  label,
  source = false,
}: {
  code: string;
  copied?: string;
  label: string;
  source?: boolean;
}) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={styles.code} data-source={source || undefined} tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </section>
      <div className={styles.copy}>
        <CopyButton value={copied} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
