/** Some browsers begin to read only after the click. */
const READ_WITHIN_MS = 60_000;

/** Into the reader's downloads. */
export function downloadBlob(filename: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = filename;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), READ_WITHIN_MS);
}
