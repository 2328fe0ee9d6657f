// Reads, lists, exports, operations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Commands, Exports, memoryStore, Operations, Reads, Wire, type OperationView } from '#client';
import { problem, Script, type Line } from './support/script.js';
import { FakeTimers } from './support/time.js';

function setUp(...lines: Line[]) {
  const timers = new FakeTimers(), script = new Script(...lines);
  const wire = new Wire({ baseUrl: 'https://review.test', token: () => 'token', fetch: script.fetch, timers });
  const commands = new Commands(wire, memoryStore());
  return { timers, script, reads: new Reads(wire, 2), operations: new Operations(wire, commands), exports: new Exports(wire) };
}

const project = '/v1/projects/{project}' as const;
const found = (name: string, etag: string, headers = {}) => ({ status: 200, body: { name }, headers: { etag, ...headers } });
const read = async (reads: Reads, id: string) => {
  const result = await reads.get(project, { path: { project: id } });
  return result.outcome === 'Done' ? [result.value.name, result.fresh] : result.outcome;
};

async function ended<T>(timers: FakeTimers, what: Promise<T>): Promise<T> {
  await timers.advance(120_000);
  return what;
}

test('what was read is asked for by its ETag, and 304 gives it again', async () => {
  const { reads, script } = setUp(found('A', '"1"'), { status: 304 }, found('B', '"2"'));
  assert.deepEqual(await read(reads, 'p'), ['A', true]);
  assert.deepEqual(await read(reads, 'p'), ['A', false]);
  assert.deepEqual(await read(reads, 'p'), ['B', true]);
  assert.deepEqual(script.asked.map(asked => asked.headers.get('if-none-match')), [null, '"1"', '"1"']);
});

test('what never changes is not asked for again', async () => {
  const { reads, script } = setUp(found('A', '"1"', { 'cache-control': 'private, immutable' }));
  await read(reads, 'p');
  assert.deepEqual(await read(reads, 'p'), ['A', false]);
  assert.ok(script.isOver);
});

test('only so much is remembered: what was used longest ago goes', async () => {
  const { reads, script } = setUp(found('A', '"a"'), found('B', '"b"'), { status: 304 }, found('C', '"c"'), found('B', '"b"'), { status: 304 });
  for (const id of ['a', 'b', 'a', 'c', 'b', 'c']) await read(reads, id);
  assert.deepEqual(script.asked.map(asked => asked.headers.get('if-none-match')), [null, null, '"a"', null, null, '"c"']);
});

test('what may not be read any more is forgotten; what cannot be read for the moment is not', async () => {
  const { reads, timers, script } = setUp(found('A', '"1"'), problem('Busy', 429, {}, '120'), { status: 304 }, problem('NotFound', 404), found('A', '"1"'));
  await read(reads, 'p');
  assert.equal(await ended(timers, read(reads, 'p')), 'Busy');
  assert.deepEqual(await read(reads, 'p'), ['A', false]);
  assert.equal(await read(reads, 'p'), 'NotFound');
  assert.deepEqual(await read(reads, 'p'), ['A', true]);
  assert.equal(script.asked.at(-1)!.headers.get('if-none-match'), null);
  reads.clear();
});

test('a read that gets no answer is made again', async () => {
  const { reads, timers } = setUp('lost', problem('StoreUnavailable', 503, {}, '2'), found('A', '"1"'));
  assert.deepEqual(await ended(timers, read(reads, 'p')), ['A', true]);
});

test('a list is walked page by page, and no further than it is wanted', async () => {
  const page = (items: string[], next: string | null) => ({ status: 200, body: { items: items.map(id => ({ id })), next } });
  const { reads, script } = setUp(page(['a', 'b'], 'x&y'), page([], 'z'), page(['c'], null));
  const ids: string[] = [];
  for await (const study of reads.each('/v1/projects/{project}/studies', { path: { project: 'p' }, query: { limit: 2 } })) ids.push(study.id);
  assert.deepEqual(ids, ['a', 'b', 'c']);
  assert.deepEqual(script.asked.map(asked => asked.path), ['/v1/projects/p/studies?limit=2', '/v1/projects/p/studies?limit=2&cursor=x%26y', '/v1/projects/p/studies?limit=2&cursor=z']);
  script.then(page(['a', 'b'], 'x'));
  for await (const _ of reads.each('/v1/projects/{project}/studies', { path: { project: 'p' } })) break;
  assert.ok(script.isOver);
});

test('an id in a path is escaped, and one that is missing is a fault of the caller', async () => {
  const { reads, script } = setUp(problem('NotFound', 404));
  await read(reads, '../a b');
  assert.equal(script.asked[0]!.path, '/v1/projects/..%2Fa%20b');
  await assert.rejects(async () => reads.get(project, { path: {} as { project: string } }), TypeError);
});

/* Operations. */

const view = (status: OperationView['status'], done: number): OperationView => ({
  id: 'o', kind: 'import', status, phase: 'applying', progress: { done, total: 3 }, requestedBy: 'i', requestedAt: '', finishedAt: null, dryRun: false,
  skipRefused: false, counts: { rows: 3, added: done, matched: 0, refused: 0, removed: 0, stayed: 0 }, undoes: null, undoneBy: null, refusal: null,
});

test('an import is uploaded once and followed to its end, as slowly as the service says', async () => {
  const running = { 'retry-after': '2', etag: '"1"' };
  const { operations, timers, script } = setUp('lost', { status: 202, body: view('running', 0), headers: running }, { status: 200, body: view('running', 1), headers: running },
    { status: 304, headers: running }, 'lost', { status: 200, body: view('succeeded', 3) });
  const seen: number[] = [];
  const file = Object.assign(new Blob(['title\nA\n']), { name: 'studies.tsv', lastModified: 1 });
  const result = await ended(timers, operations.importFile('p', file, { skipRefused: true, labels: ['arm', 'site'], onProgress: operation => seen.push(operation.progress.done) }));
  assert.equal(result.outcome === 'Done' && result.operation.status, 'succeeded');
  assert.deepEqual(seen, [0, 1, 3]);
  const [first, second, poll, again] = script.asked;
  assert.equal(first!.path, '/v1/projects/p/imports?skipRefused=true&label=arm&label=site');
  assert.equal(first!.headers.get('content-type'), 'text/tab-separated-values');
  assert.equal(first!.headers.get('idempotency-key'), second!.headers.get('idempotency-key'));
  assert.deepEqual([poll!.path, again!.headers.get('if-none-match')], ['/v1/projects/p/operations/o', '"1"']);
});

test('the same file chosen again after a lost answer is the same import, another file is another', async () => {
  const { operations, timers, script } = setUp('lost', { status: 200, body: view('succeeded', 3) }, 'lost', { status: 200, body: view('succeeded', 3) });
  const file = (name: string) => Object.assign(new Blob(['title\nA\n']), { name, lastModified: 1 });
  const send = (name: string) => ended(timers, operations.importFile('p', file(name), { intent: 'import', patienceMs: 0 }));
  assert.equal((await send('a.csv')).outcome, 'Unanswered');
  assert.equal((await send('a.csv')).outcome, 'Done');
  assert.equal((await send('a.csv')).outcome, 'Unanswered');
  assert.equal((await send('b.csv')).outcome, 'Done');
  const keys = script.asked.map(asked => asked.headers.get('idempotency-key'));
  assert.equal(keys[0], keys[1]);
  assert.equal(new Set(keys).size, 3);
});

test('a file that is refused, and one that stops being followed', async () => {
  const { operations, timers } = setUp(problem('ValidationFailed', 409, { errors: [] }));
  assert.equal((await operations.importFile('p', 'x')).outcome, 'ValidationFailed');
  const stop = new AbortController();
  const other = setUp({ status: 202, body: view('running', 0), headers: { 'retry-after': '5' } }, { status: 200, body: view('running', 0), headers: { 'retry-after': '5' } });
  const following = other.operations.importFile('p', 'title\nA\n', { signal: stop.signal });
  await other.timers.advance(1_000);
  stop.abort();
  assert.equal((await following).outcome, 'Unanswered');
  assert.deepEqual([timers.pending, other.timers.pending], [0, 0]);
});

test('an import is undone as a command, and followed', async () => {
  const { operations, script } = setUp({ status: 200, body: { ...view('succeeded', 3), kind: 'importUndo' } });
  const result = await operations.undoImport('p', 'o');
  assert.equal(result.outcome === 'Done' && result.operation.kind, 'importUndo');
  assert.deepEqual([script.asked[0]!.method, script.asked[0]!.path, script.asked[0]!.body], ['POST', '/v1/projects/p/imports/o/undo', undefined]);
});

/* Exports. */

test('an export is a stream, made again only before it has begun', async () => {
  const bytes = new TextEncoder().encode('study/id\r\n');
  const stream = new ReadableStream<Uint8Array>({ start(controller) { controller.enqueue(bytes); controller.close(); } });
  const { exports, timers } = setUp('lost', problem('Busy', 429, {}, '1'), { status: 200, stream, headers: { 'content-type': 'text/csv' } });
  const opened = await ended(timers, exports.open('/v1/projects/{project}/studies', { path: { project: 'p' } }));
  assert.ok(opened.outcome === 'Done');
  assert.equal(opened.contentType, 'text/csv');
  assert.equal(await new Response(opened.body).text(), 'study/id\r\n');
});

test('an export that is refused says so', async () => {
  const { exports, timers } = setUp(problem('Refused', 409, { reason: 'permission' }), { status: 200, text: '<html>', headers: { 'content-type': 'text/html' } }, 'lost');
  assert.equal((await exports.open('/v1/projects/{project}/studies', { path: { project: 'p' } })).outcome, 'Refused');
  const opened = await ended(timers, exports.open('/v1/projects/{project}/studies', { path: { project: 'p' } }, { patienceMs: 2_000 }));
  assert.equal(opened.outcome, 'Unanswered');
});
