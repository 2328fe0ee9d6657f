// Files of references over HTTP: begun, waited for, retried, looked at, undone; and a study corrected afterwards.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, ok, type Reply, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

type Operation = Schemas['OperationView'];

const csv = (count: number, first = 0) =>
  `title,doi\n${Array.from({ length: count }, (_, i) => `Study ${first + i},10.1000/${first + i}\n`).join('')}`;

const send = (review: Review, text: string, { query = '', wait = 30, key = newKey(), type = 'text/csv' } = {}): Promise<Reply> =>
  review.admin.ask('POST', `${review.path}/imports${query}`, { text, key, headers: { 'Content-Type': type, ...(wait > 0 ? { Prefer: `wait=${wait}` } : {}) } });

async function done(reply: Reply): Promise<Operation> {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.phase, 'settled');
  return reply.json as Operation;
}

async function studies(review: Review): Promise<number> {
  let listed = 0, cursor = '';
  for (;;) {
    const { json } = await review.admin.get(`${review.path}/studies?limit=500${cursor}`);
    listed += json.items.length;
    if (json.next === null) return listed;
    cursor = `&cursor=${json.next}`;
  }
}

test('a file is an operation: begun with a 202 and an address, waited for, listed, its rows shown', async () => {
  const review = await Review.create(daemon, 'Files');
  const begun = await send(review, csv(3), { wait: 0 });
  assert.equal(begun.status, 202, begun.text);
  const location = begun.headers.get('location')!;
  assert.equal(location, `${review.path}/operations/${begun.json.id}`);
  const waited = await done(await send(review, `${csv(3)}Study 9,10.1000/9\n,nonsense\n\nLast,\n`, { query: '?skipRefused=true' }));
  assert.deepEqual(waited.counts, { rows: 6, added: 2, matched: 3, refused: 1, removed: 0, stayed: 0 });
  const { json: first } = await review.admin.get(location);
  assert.equal(first.status, 'succeeded');
  const { json: list } = await review.admin.get(`${review.path}/operations`);
  assert.deepEqual(list.items.map((one: Operation) => one.id), [waited.id, first.id], 'the newest first');
  const { json: rows } = await review.admin.get(`${review.path}/operations/${waited.id}/rows`);
  assert.deepEqual(rows.items.map((row: Schemas['OperationRowView']) => `${row.place} ${row.result}`), ['2 matched', '3 matched', '4 matched', '6 refused', '7 empty']);
  assert.match(rows.items[3].sentence, /Row 6, column 2 \(doi\)/);
  const added = await review.admin.get(`${review.path}/operations/${waited.id}/rows?result=added`);
  assert.equal(added.json.items.length, 2);
  await review.admin.refused('Malformed', 'GET', `${review.path}/operations/${waited.id}/rows?result=lost`);
});

test('TSV and RIS, labels, a delimiter that is named, and a dry run', async () => {
  const review = await Review.create(daemon, 'Formats');
  await done(await send(review, 'title\tdoi\nA\t10.1000/a\n', { type: 'text/tab-separated-values' }));
  await done(await send(review, 'TY  - JOUR\r\nTI  - B\r\nDO  - 10.1000/b\r\nER  - \r\n', { type: 'application/x-research-info-systems' }));
  const labelled = await done(await send(review, 'title;label_included;note\nC;1;by hand\n', { query: '?delimiter=semicolon&label=label_included&label=note' }));
  const { json: rows } = await review.admin.get(`${review.path}/operations/${labelled.id}/rows?result=added`);
  const { json: study } = await review.admin.get(`${review.path}/studies/${rows.items[0].studyId}`);
  assert.deepEqual(study.labels, [{ name: 'label_included', value: '1' }, { name: 'note', value: 'by hand' }]);
  const tried = await done(await send(review, csv(5), { query: '?dryRun=true' }));
  assert.equal(tried.counts.added, 5);
  assert.equal(await studies(review), 3);
  await review.admin.refused('UnsupportedMediaType', 'POST', `${review.path}/imports`, { body: {} });
});

test('row 999 of 1,000 bad: nothing imported, the row named', async () => {
  const review = await Review.create(daemon, 'One bad row');
  const lines = csv(1000).split('\n');
  lines[998] = 'Study,nonsense';
  const { status, problem } = await send(review, lines.join('\n'));
  assert.equal(status, 409);
  assert.equal(problem.outcome, 'ValidationFailed');
  const errors = problem['errors'] as Schemas['ValidationError'][];
  assert.equal(errors.length, 1);
  assert.deepEqual([errors[0]!.row, errors[0]!.column, errors[0]!.code], [999, 'doi', 'malformedIdentifier']);
  assert.equal(await studies(review), 0);
});

test('a 5,000-row import cut by a 1 s client time-out and retried three times imports once', async () => {
  const review = await Review.create(daemon, 'Impatient');
  const key = newKey(), text = csv(5000);
  let answered = 0;
  const attempt = async (signal: AbortSignal) => {
    const response = await fetch(`${daemon.api}${review.path}/imports`, {
      method: 'POST', body: text, signal,
      headers: { Authorization: `Bearer ${review.admin.token}`, 'Idempotency-Key': key, 'Content-Type': 'text/csv', Prefer: 'wait=30' },
    });
    answered += response.status === 200 || response.status === 202 ? 1 : 0;
  };
  // Cut as early as it can be, then in the middle, then by the time-out itself: all against the same key.
  for (const milliseconds of [1, 50, 1000]) await attempt(AbortSignal.timeout(milliseconds)).catch(() => undefined);
  const last = await done(await send(review, text, { key }));
  assert.deepEqual(last.counts, { rows: 5000, added: 5000, matched: 0, refused: 0, removed: 0, stayed: 0 });
  assert.equal(await studies(review), 5000);
  const { json } = await review.admin.get(`${review.path}/operations`);
  assert.equal(json.items.length, 1, `one operation, though ${answered} answers came before`);
});

test('an import is undone, what somebody touched stays, and the file can be imported again', async () => {
  const review = await Review.create(daemon, 'Undo');
  const imported = await done(await send(review, csv(3)));
  const { json: rows } = await review.admin.get(`${review.path}/operations/${imported.id}/rows?result=added`);
  const [first, second] = rows.items.map((row: Schemas['OperationRowView']) => row.studyId) as [string, string];
  const corrected = await review.admin.post(`${review.path}/studies/${first}/correction`, { metadataVersion: 0, set: { title: 'Better' } });
  assert.equal(corrected.status, 200, corrected.text);
  assert.equal(corrected.json.metadataVersion, 1);
  const stale = await review.admin.refused('StaleBase', 'POST', `${review.path}/studies/${first}/correction`, { body: { metadataVersion: 0, set: { title: 'Other' } } });
  assert.deepEqual([stale['base'], stale['declared'], stale['current']], ['metadata', 0, 1]);
  const held = await review.admin.refused('ValidationFailed', 'POST', `${review.path}/studies/${first}/correction`, { body: { metadataVersion: 1, set: { doi: '10.1000/1' } } });
  assert.equal((held['errors'] as Schemas['ValidationError'][])[0]!.studyId, second);
  const undo = await review.admin.ask('POST', `${review.path}/imports/${imported.id}/undo`, { headers: { Prefer: 'wait=30', 'Content-Length': '0' } });
  const undone = await done(undo);
  assert.deepEqual([undone.counts.removed, undone.counts.stayed, undone.undoes], [2, 1, imported.id]);
  await review.admin.refused('NotFound', 'GET', `${review.path}/studies/${second}`);
  const { json: stayed } = await review.admin.get(`${review.path}/operations/${undone.id}/rows`);
  assert.deepEqual(stayed.items.map((row: Schemas['OperationRowView']) => [row.studyId, row.result, row.code]), [[first, 'stayed', 'touched']]);
  await review.admin.refused('ValidationFailed', 'POST', `${review.path}/imports/${imported.id}/undo`);
  const again = await done(await send(review, csv(3)));
  assert.deepEqual([again.counts.added, again.counts.matched], [2, 1]);
  ok(await review.admin.api.GET('/v1/projects/{project}/operations/{operation}', { params: { path: { project: review.project, operation: again.id } } }));
});

test('two imports at once cannot both take a DOI', async () => {
  const review = await Review.create(daemon, 'At once');
  const replies = await Promise.all([0, 1, 2, 3].map(() => send(review, csv(300))));
  const operations = await Promise.all(replies.map(done));
  assert.equal(operations.reduce((sum, one) => sum + one.counts.added, 0), 300);
  assert.equal(operations.reduce((sum, one) => sum + one.counts.matched, 0), 900);
  assert.equal(await studies(review), 300);
});
