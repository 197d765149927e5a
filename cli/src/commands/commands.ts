import type { Command } from '../command.ts';
import { token, whoami } from './identity.ts';
import { listen } from './listen.ts';
import { login, logout } from './login.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [login, logout, whoami, token, listen];
