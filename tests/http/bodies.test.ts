// Every command there is, by the description alone: each way its request can be wrong is told with its place.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, type Caller } from './support/caller.js';
import { exampleOf, headersOf, operations, requestFits, type Operation } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { Review, type Ids } from './support/review.js';
import { nulled, specimen, spoilt } from './support/specimen.js';

let daemon: Daemon, review: Review, anna: Caller, ids: Ids;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon);
  anna = await review.member('admin', 'reviewer');
  ({ ids } = await review.worked(anna));
});
after(() => daemon.done());

const all = operations.filter(({ path }) => path.startsWith('/v1/'));
const withJson = all.filter(({ operation }) => operation.requestBody?.content['application/json'] !== undefined);
const schemaOf = (operation: Operation) => operation.requestBody!.content['application/json']!.schema;
/** Without these nothing else is looked at. */
const needed = (operation: Operation): Record<string, string> => (headersOf(operation).has('If-Match') ? { 'If-None-Match': '*' } : {});
const where = (path: string) => review.filled(path, ids);

// Names that are judged with the rest of what is asked, so that all errors come at once.
const judged = new Set(['setMember /roles/0']);

for (const { method, path, operation } of withJson)
  test(`${operation.operationId}: each wrong place of its body is Malformed with the pointer to it, and the description says so too`, async () => {
    const at = where(path), headers = needed(operation);
    let count = 0;
    for (const { pointer, what, body } of spoilt(schemaOf(operation))) {
      const { problem, text } = await anna.ask(method.toUpperCase(), at, { body, headers });
      if (what === 'no name' && judged.has(`${operation.operationId} ${pointer}`)) assert.deepEqual([problem.outcome, (problem as any).errors[0].pointer], ['ValidationFailed', pointer]);
      else assert.deepEqual([problem.outcome, problem['pointer']], ['Malformed', pointer], `${what}: ${text}`);
      assert.ok(!requestFits(operation, body), `the description takes what the service does not: ${pointer} ${what}`);
      count++;
    }
    assert.ok(count > 5);
  });

test('what may be left out may be left out, or be null', async () => {
  for (const { method, path, operation } of withJson) {
    const schema = schemaOf(operation);
    for (const body of [specimen(schema), specimen(schema, true), nulled(schema)]) {
      assert.ok(requestFits(operation, body), `${operation.operationId} ${JSON.stringify(body)}`);
      const { problem, text } = await anna.ask(method.toUpperCase(), where(path), { body, headers: needed(operation) });
      assert.notEqual(problem.outcome, 'Malformed', `${operation.operationId}: ${text}`);
    }
  }
});

test('what is not JSON, or is something else, is refused by every command', async () => {
  for (const { method, path, operation } of withJson) {
    const ask = (outcome: string, text: string, headers: Record<string, string> = {}) =>
      anna.refused(outcome, method.toUpperCase(), where(path), { text, headers: { ...needed(operation), ...headers } });
    for (const text of [' ', '{', '[]', '{"a":1,"a":2}', '{} {}', '\u{feff}{}']) assert.equal((await ask('Malformed', text))['pointer'], '', text);
    assert.match((await ask('Malformed', `{"a":${2 ** 64}}`)).detail, /number is too large/);
    for (const type of ['text/csv', 'application/merge-patch+json', 'text/plain']) await ask('UnsupportedMediaType', '{}', { 'Content-Type': type });
    await ask('UnsupportedMediaType', '{}', { 'Content-Encoding': 'gzip' });
  }
});

test('a body larger than the operation takes is BodyTooLarge, where it takes one and where it does not', async () => {
  for (const { method, path, operation } of all.filter(one => one.method !== 'get')) {
    const most = operation['x-max-bytes'] ?? 0;
    if (most > 8 * 1024 * 1024) continue;
    const type = Object.keys(operation.requestBody?.content ?? { 'application/json': 0 })[0]!;
    await anna.refused('BodyTooLarge', method.toUpperCase(), where(path), { text: ' '.repeat(most + 1), headers: { ...needed(operation), 'Content-Type': type } });
  }
});

test('what is ledgered needs a key that is a UUID and not of version 8; what is not needs none', async () => {
  for (const { method, path, operation } of all.filter(one => one.method !== 'get')) {
    const ask = (key: string | null) => anna.ask(method.toUpperCase(), where(path), { key, ...exampleOf(operation) });
    if (headersOf(operation).get('Idempotency-Key')?.required !== true) {
      assert.notEqual((await ask(null)).problem?.['header'], 'Idempotency-Key', operation.operationId);
      continue;
    }
    for (const key of [null, 'x', newKey().replace(/^(.{14})./, '$18'), '00000000-0000-0000-0000-000000000000']) {
      const { problem } = await ask(key);
      assert.deepEqual([problem.outcome, problem['header']], ['Malformed', 'Idempotency-Key'], `${operation.operationId} ${key}`);
    }
  }
});

test('a key that was used for something else is CommandDigestMismatch, whatever the command', async () => {
  const key = newKey();
  assert.equal((await anna.post(`${review.path}/stages`, { name: 'Used' }, key)).status, 200);
  for (const { method, path, operation } of all.filter(one => headersOf(one.operation).get('Idempotency-Key')?.required === true)) {
    if (operation.operationId === 'createProject') continue; // its key names the project
    await anna.refused('CommandDigestMismatch', method.toUpperCase(), where(path), { key, ...exampleOf(operation) });
  }
  await review.admin.post('/v1/projects', { name: 'One' }, key);
  await review.admin.refused('CommandDigestMismatch', 'POST', '/v1/projects', { key, body: { name: 'Another' } });
});

test('a query parameter no operation has is named by every one of them', async () => {
  for (const { method, path, operation } of all) {
    const problem = await anna.refused('Malformed', method.toUpperCase(), `${where(path)}?nonesuch=1`, exampleOf(operation));
    assert.equal(problem['parameter'], 'nonesuch', operation.operationId);
  }
});
