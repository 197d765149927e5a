import type { SignedRequest } from '../../../api/types.ts';

/** A command for POSIX shells that sends exactly these bytes. Without `-g` curl expands braces and brackets of the URL. */
export function curlCommandOf({
  url,
  headers,
  body,
}: Pick<SignedRequest, 'url' | 'headers' | 'body'>): string {
  const lines = [
    `curl -gi ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ];
  return lines.join(' \\\n  ');
}

/** Within single quotes only the single quote itself has a meaning. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
