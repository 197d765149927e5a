import { Link } from '@tanstack/react-router';
import styles from './Logo.module.css';

export function Logo() {
  return (
    <Link to="/overview" className={styles.logo} aria-label="Portico overview">
      <Mark />
      <span className={styles.name}>Portico</span>
    </Link>
  );
}

export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--mantine-color-iris-7)" />
      <path
        d="M6.5 13 16 7l9.5 6v2h-19zM8.5 17h3v7h-3zM14.5 17h3v7h-3zM20.5 17h3v7h-3zM6.5 24.5h19V26h-19z"
        fill="#fff"
      />
    </svg>
  );
}
