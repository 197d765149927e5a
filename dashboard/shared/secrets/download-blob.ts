/** Some browsers start reading the blob only after the click handler. */
const REVOKE_AFTER_MS = 60_000;

export function downloadBlob(filename: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = filename;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS);
}
