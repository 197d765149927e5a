import * as argon2 from '@node-rs/argon2';
import type { PasswordHasher } from '../../server/people/login/passwords/passwords.ts';

/** Argon2 at its lowest cost: `passwords.test.ts` and `login.test.ts` test the real one, which takes 20 ms of CPU per call. */
export const fastPasswordHasher: PasswordHasher = {
  hash: (password, options) => argon2.hash(password, { ...options, memoryCost: 8, timeCost: 1 }),
  // The hash that stands for a missing one has the real cost.
  verify: (hashed, password) => argon2.verify(String(hashed).replace(/m=\d+,t=\d+/, 'm=8,t=1'), password),
};
