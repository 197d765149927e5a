import { StartupError } from '../../../runtime/startup-error.ts';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user cannot write there',
  EPERM: 'this user cannot write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'that path does not exist and cannot be created',
  ENOTDIR: 'a part of that path is a file, not a directory',
  EEXIST: 'that path is a file, not a directory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EIO: 'the disk reports an error',
};

/** What link(2) returns on a file system such as FAT. */
const NO_HARD_LINKS = ['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'];

/** The startup error for a failed file operation. */
export function fileProblem(what: string, path: string, error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const { code = '', message, syscall } = error as NodeJS.ErrnoException;
  const isWithoutLinks = syscall === 'link' && NO_HARD_LINKS.includes(code);
  const reason = isWithoutLinks ? 'the file system has no hard links' : (reasons[code] ?? message);
  return new StartupError(
    `Cannot ${what} ${path} because ${reason}; correct that or set PORTICO_DATA_DIR to another directory.`,
  );
}

export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && codes.includes(code);
}
