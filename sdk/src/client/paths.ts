import { ConfigurationError } from '../errors.ts';

/** One segment of a path. A URL drops `.` and `..` even if they are encoded, and an empty one would name the list. */
export function segment(id: string): string {
  if (typeof id !== 'string' || ['', '.', '..'].includes(id))
    throw new ConfigurationError(`An id is required instead of '${id}'`);
  return encodeURIComponent(id);
}

/** Joined to the address, another beginning would change the host that gets the token: `@example.com`. */
export function checkPath(path: string): void {
  if (!path.startsWith('/')) throw new ConfigurationError(`A path begins with /, unlike ${path}`);
}
