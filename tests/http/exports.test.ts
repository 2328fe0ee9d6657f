// What comes out: tables, lines and the manifest over HTTP, and whether what is stored holds together.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Caller, Schemas } from './support/caller.js';
import { linesOf } from './support/contract.js';
import { parseRecords } from './support/csv.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon, review: Review, reviewers: Caller[], files: string;
const answers: Record<string, Schemas['AnswerValue']>[] = [{ randomised: true, blinding: 'double', remarks: '=1+1' }, { randomised: false, dose: '1.50', setting: ['home'] }];

before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 30);
  reviewers = [await review.member('reviewer'), await review.member('reviewer')];
  files = `${review.path}/forms/${review.form}/exports`;
  for (const study of review.studies.slice(0, 25))
    for (const [i, reviewer] of reviewers.entries()) {
      const { status, text } = await reviewer.post(`${review.session(study)}/complete`, review.body(answers[i]!));
      assert.equal(status, 200, text);
    }
});
after(() => daemon.done());

async function fetched(caller: Caller, file: string): Promise<string> {
  const { status, text } = await caller.get(`${files}/${file}`);
  assert.equal(status, 200, text);
  return text;
}

test('a table has a row for each reviewer and study, and a column for each question and option', async () => {
  const rows = parseRecords(await fetched(review.admin, 'answers.csv'));
  assert.equal(rows.length, 50);
  const own = rows.filter(row => row['reviewer/id'] === reviewers[1]!.id);
  assert.deepEqual(new Set(own.map(row => row['study/id'])), new Set(review.studies.slice(0, 25)));
  for (const row of own) assert.deepEqual([row['dose'], row['setting'], row['setting[clinic]'], row['setting[home]'], row['blinding']], ['1.50', 'home', '0', '1', '']);
});

test('lines hold what the table holds, typed', async () => {
  const lines = linesOf(await fetched(review.admin, 'answers.ndjson'));
  assert.equal(lines.length, 50);
  for (const line of lines) {
    const given = answers[reviewers.findIndex(({ id }) => id === line.reviewerId)]!;
    assert.deepEqual(Object.fromEntries(line.answers.map((answer: any) => [answer.question, answer.value])), given);
  }
});

test('the same evidence gives the same bytes, and the manifest has their digests', async () => {
  const { json: manifest } = await review.admin.get(`${files}/manifest.json`);
  assert.deepEqual([manifest.studies, manifest.reviewers, manifest.sessions, manifest.answers], [25, 2, 50, 150]);
  for (const { name, bytes, sha256 } of manifest.files) {
    const first = await fetched(review.admin, name), second = await fetched(review.admin, name);
    assert.equal(first, second);
    assert.equal(Buffer.byteLength(first), bytes);
    assert.equal(createHash('sha256').update(first).digest('hex'), sha256);
  }
});

test('a reconciler may export, a reviewer may not, and a stranger finds nothing', async () => {
  const reconciler = await review.member('reconciler');
  const stranger = await (await Review.create(daemon)).member('reconciler');
  for (const file of ['answers.csv', 'answers.ndjson', 'series.csv', 'manifest.json']) {
    await fetched(reconciler, file);
    await reviewers[0]!.refused('Refused', 'GET', `${files}/${file}`);
    await stranger.refused('NotFound', 'GET', `${files}/${file}`);
  }
});

test('a table for a spreadsheet runs no formula', async () => {
  const plain = parseRecords(await fetched(review.admin, 'answers.csv'));
  const safe = parseRecords(await fetched(review.admin, 'answers.csv?spreadsheet=safe'));
  assert.equal(plain.filter(row => row['remarks'] === '=1+1').length, 25);
  assert.equal(safe.filter(row => row['remarks'] === "'=1+1").length, 25);
  const problem = await review.admin.refused('Malformed', 'GET', `${files}/answers.csv?spreadsheet=yes`);
  assert.equal(problem['parameter'], 'spreadsheet');
});

test('what is stored holds together, for an administrator to see', async () => {
  const { text, status } = await review.admin.get(`${review.path}/verification`);
  assert.equal(status, 200, text);
  const [line, ...more] = linesOf(text);
  assert.deepEqual(more, []);
  assert.deepEqual([line.summary.findings, line.summary.sessions, line.summary.studies], [0, 50, 30]);
  await reviewers[0]!.refused('Refused', 'GET', `${review.path}/verification`);
});
