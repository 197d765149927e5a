import styles from './CodeBlock.module.css';
import { CopyButton } from './CopyButton.tsx';

/** `copied` replaces a code that masks a secret. */
export function CodeBlock({ code, copied = code, label }: { code: string; copied?: string; label: string }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={styles.code} tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </section>
      <div className={styles.copy}>
        <CopyButton value={copied} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
