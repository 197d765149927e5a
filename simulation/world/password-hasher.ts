import { createHash } from 'node:crypto';
import type { PasswordHasher } from '../../server/people/login/passwords/passwords.ts';

const hashOf = (password: unknown) => createHash('sha256').update(String(password)).digest('hex');

/** At once and without a salt: the end of the real one's work cannot be observed, and its salt is not the seed's. */
export const simulatedPasswordHasher: PasswordHasher = {
  hash: async (password) => hashOf(password),
  verify: async (hashed, password) => hashed === hashOf(password),
};
