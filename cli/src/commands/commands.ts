import type { Command } from '../command.ts';
import { callCommands } from './calls.ts';
import { createCompletion } from './completion.ts';
import { deliveryCommands } from './deliveries.ts';
import { doctor } from './doctor.ts';
import { eventCommands } from './events.ts';
import { uploadFile } from './files.ts';
import { token, whoami } from './identity.ts';
import { listen } from './listen.ts';
import { login, logout } from './login.ts';
import { tailLogs } from './logs.ts';
import { open } from './open.ts';
import { profileCommands } from './profiles.ts';
import { sandboxCommands } from './sandbox.ts';
import { subscriptionCommands } from './subscriptions.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...[login, logout, whoami],
  ...profileCommands,
  ...[token, listen],
  ...callCommands,
  ...sandboxCommands,
  ...eventCommands,
  ...deliveryCommands,
  ...subscriptionCommands,
  ...[uploadFile, tailLogs, open, doctor],
  createCompletion(() => COMMANDS),
];
