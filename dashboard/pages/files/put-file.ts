/** A PUT with progress: `fetch` cannot tell how much of a body is sent. */
export function put(
  url: string,
  file: File,
  { onProgress, signal }: { onProgress: (share: number) => void; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('content-type', file.type);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(loaded / Math.max(1, total)),
    );
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(new Error(messageOf(request)));
    });
    request.addEventListener('error', () => reject(new Error('The connection was lost. Try again.')));
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

function messageOf({ status, responseText }: XMLHttpRequest): string {
  try {
    return (JSON.parse(responseText) as { message: string }).message;
  } catch {
    return `The store answered ${status}.`;
  }
}
