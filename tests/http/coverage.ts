// After the tests: did they see every answer a client can provoke? What needs a fault, a full disk or an operator is
// tested elsewhere, and named here.
import { readFileSync } from 'node:fs';
import { operations } from './support/contract.js';

const seen = readFileSync(process.env['EVIDENCED_SEEN']!, 'utf8').split('\n').filter(Boolean);
const seenOutcomes = new Set(seen.map(line => line.split(' ')[2]).filter(Boolean));
const succeeded = new Set(seen.filter(line => / 20[02]$/.test(line)).map(line => line.split(' ')[0]));

const elsewhere = new Set([
  'RetryableConflict', 'OutcomeUnknown', 'StoreUnavailable', 'StoreFull', 'StoreCorrupt', 'ClockDrift', 'OutOfMemory', // faults
  'Locked', 'Fenced', 'StageCompleted', 'FormVersionNotRenderable', // no operation of this version brings them about
]);
const operationsElsewhere = new Set(['upgrade']); // needs a second publication, which is not there yet
const described = new Set(operations.flatMap(({ operation }) => operation['x-outcomes'] ?? []));
const edge = ['Unauthenticated', 'MethodNotAllowed', 'LengthRequired', 'BodyTooLarge', 'PathTooLong', 'UnsupportedMediaType', 'Busy', 'HeadersTooLarge', 'NotImplemented', 'Draining'];

const missing = [
  ...operations.filter(({ operation: { operationId } }) => !succeeded.has(operationId) && !operationsElsewhere.has(operationId)).map(({ operation }) => `${operation.operationId} never succeeded`),
  ...[...described, ...edge].filter(name => !seenOutcomes.has(name) && !elsewhere.has(name)).map(name => `${name} was never given`),
];
for (const line of missing) console.log(`coverage: ${line}`);
console.log(`${seen.length} different answers of ${operations.length} operations were checked against the description`);
process.exitCode = missing.length > 0 ? 1 : 0;
