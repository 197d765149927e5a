#!/usr/bin/env node
import { systemIo } from './io.ts';
import { run } from './main.ts';

process.exitCode = await run(process.argv.slice(2), systemIo());
