import { useEffect, useState } from 'react';
import styles from './Preview.module.css';

export function ImagePreview({
  content,
  type,
  name,
}: {
  content: Uint8Array<ArrayBuffer>;
  type: string;
  name: string;
}) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(new Blob([content], { type }));
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [content, type]);
  return url === undefined ? null : <img src={url} alt={`Content of ${name}`} className={styles.image} />;
}
