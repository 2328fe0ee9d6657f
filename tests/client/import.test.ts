// Files of references by the front end's client, against the real daemon.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { memoryStore, type OperationView } from '#client';
import { Daemon } from '../http/support/daemon.js';
import { Review } from '../http/support/review.js';
import { clientOf, Line } from './support/work.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

const fileOf = (rows: number, name = 'studies.csv') =>
  Object.assign(new Blob([`title,doi\n${Array.from({ length: rows }, (_, i) => `Study ${i},10.1000/${i}\n`).join('')}`]), { name, lastModified: 1 });

async function setUp() {
  const review = await Review.create(daemon), line = new Line(daemon);
  return { review, line, client: clientOf(review.admin, line) };
}

async function studiesOf(review: Review): Promise<number> {
  let found = 0, next: string | null = null;
  do {
    const { json } = await review.admin.get(`${review.path}/studies?limit=500${next === null ? '' : `&cursor=${next}`}`);
    found += json.items.length;
    next = json.next;
  } while (next !== null);
  return found;
}

test('5,000 rows whose answer is lost three times, once with the page, are imported once', async () => {
  const { review, line } = await setUp();
  const own = memoryStore();
  let lost = 0;
  line.loses = (method, path) => method === 'POST' && path.endsWith('/imports') && lost++ < 3 ? 'unanswered' : undefined;
  const first = await clientOf(review.admin, line, { own }).operations.importFile(review.project, fileOf(5_000), { intent: 'import', patienceMs: 0 });
  assert.equal(first.outcome, 'Unanswered');
  const seen: number[] = [];
  const again = await clientOf(review.admin, line, { own }).operations.importFile(review.project, fileOf(5_000), { intent: 'import', onProgress: operation => seen.push(operation.progress.done) });
  assert.equal(again.outcome, 'Done', JSON.stringify(again));
  assert.ok(again.outcome === 'Done' && again.operation.status === 'succeeded');
  assert.equal(again.operation.counts.added, 5_000);
  assert.deepEqual([lost, seen.at(-1), await studiesOf(review)], [4, again.operation.progress.total, 5_000]);
  const listed = await review.admin.get(`${review.path}/operations`);
  assert.equal(listed.json.items.length, 1);
});

test('a dry run adds nothing, a file that cannot be read says where, an undone import is gone', async () => {
  const { review, client } = await setUp();
  const dry = await client.operations.importFile(review.project, fileOf(3), { dryRun: true });
  assert.deepEqual([dry.outcome === 'Done' && dry.operation.counts.added, await studiesOf(review)], [3, 0]);
  const broken = await client.operations.importFile(review.project, 'title,doi\n"never closed,10.1000/1\n');
  assert.equal(broken.outcome, 'ValidationFailed');
  const states: OperationView['status'][] = [];
  const done = await client.operations.importFile(review.project, fileOf(3, 'studies.CSV'), { onProgress: operation => states.push(operation.status) });
  assert.ok(done.outcome === 'Done');
  assert.equal(await studiesOf(review), 3);
  const undone = await client.operations.undoImport(review.project, done.operation.id);
  assert.deepEqual([undone.outcome === 'Done' && undone.operation.counts.removed, await studiesOf(review)], [3, 0]);
});
