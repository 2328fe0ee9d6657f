// The entry for Node, whose version 18 has no global `crypto`.
import { randomUUID } from 'node:crypto';
import { useUuid } from './environment.js';

useUuid(randomUUID);
export * from './index.js';
