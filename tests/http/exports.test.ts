// What comes out: tables, lines and the manifest over HTTP, and whether what is stored holds together.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Caller, Schemas } from './support/caller.js';
import { linesOf } from './support/contract.js';
import { parseCsv, parseRecords } from './support/csv.js';
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

const elements: Schemas['QuestionInput'][] = [
  { id: 'cohort', label: 'Which cohort?', kind: 'unit' },
  { id: 'size', label: 'How many?', kind: 'integer', unit: 'cohort' },
  { id: 'weight', label: 'The weight', kind: 'series', unit: 'cohort' },
  { id: 'remarks', label: 'Remarks', kind: 'text' },
];

/** A review of its own with one completed session of these answers. */
async function completed(list: Schemas['AnswerChange'][], asked = elements) {
  const own = await Review.create(daemon, 'Exported');
  const { form, stage } = await own.addForm({ target: 3 }, asked);
  await own.addStudies([{ title: 'Title, with "quotes"\nand a line', customId: '0012' }, { title: 'Second' }]);
  const ada = await own.member('reviewer'), at = `${own.path}/forms/${form}/exports`;
  const body = { stage, formVersion: 1, baseVersion: null, draft: null, answers: list };
  const receipt = await ada.post(`${own.session(own.studies[0], form)}/complete`, body);
  assert.equal(receipt.status, 200, receipt.text);
  const get = async (file: string) => (await own.admin.get(`${at}/${file}`)).text;
  return { own, form, stage, ada, at, get, receipt: receipt.json as Schemas['SessionReceipt'] };
}

const change = (question: string, value: Schemas['AnswerValue'], ...path: Schemas['PathStepInput'][]): Schemas['AnswerChange'] => ({ question, value, path, baseRevision: null });

test('a table is RFC 4180: CR LF, a header, and quotation marks where they are needed and doubled', async () => {
  const { get } = await completed([change('remarks', 'a, "b"\r\nc;d')]);
  const text = await get('answers.csv');
  const [header, ...rows] = parseCsv(text);
  assert.ok(text.endsWith('\r\n') && text.startsWith('study/id,study/customId,'));
  assert.deepEqual(rows.map(row => row.length), [header!.length]);
  const [record] = parseRecords(text);
  assert.deepEqual([record!['study/title'], record!['study/customId'], record!['remarks']], ['Title, with "quotes"\nand a line', '0012', 'a, "b"\r\nc;d']);
  assert.ok(text.includes('"a, ""b""\r\nc;d"') && text.includes(',0012,'), 'digits with leading zeros need none');
});

test('instances have rows of their own, and a series is a cell in one table and rows in another', async () => {
  const [old, young] = ['30000000-0000-4000-8000-000000000000', '40000000-0000-4000-8000-000000000000'];
  const at = (element: string) => ({ question: 'cohort', element });
  const points = Array.from({ length: 300 }, (_, i) => ({ time: `${i}`, average: `${200 - i}.50`, ...(i % 2 === 0 ? { error: '0.4' } : {}) }));
  const { get } = await completed([
    change('cohort', 'Old', at(old)), change('cohort', 'Young', at(young)), change('size', 12, at(young)), change('weight', points, at(old)), change('remarks', 'x'),
  ]);
  const rows = parseRecords(await get('answers.csv'));
  assert.deepEqual(rows.map(row => [row['element/path'], row['element/name'], row['size'], row['remarks']]),
    [['', '', '', 'x'], [`cohort=${old}`, 'Old', '', ''], [`cohort=${young}`, 'Young', '12', '']]);
  assert.match(rows[1]!['weight']!, /^0 200\.50 0\.4;1 199\.50;2 198\.50 0\.4;/);
  const series = parseRecords(await get('series.csv'));
  assert.deepEqual(series.map(row => ({ time: row['series/time'], average: row['series/average'], ...(row['series/error'] === '' ? {} : { error: row['series/error'] }) })), points);
  const [line] = linesOf(await get('answers.ndjson'));
  assert.deepEqual(line.answers.find((answer: any) => answer.question === 'weight').value, points);
  const manifest = JSON.parse(await get('manifest.json')) as Schemas['ExportManifest'];
  assert.deepEqual(manifest.files.map(one => [one.name, one.records]), [['answers.csv', 3], ['answers.ndjson', 1], ['series.csv', 300]]);
  assert.deepEqual(manifest.columns.map(column => column.name), ['cohort', 'size', 'weight', 'remarks']);
});

test('only completed sessions are in it, as they are now', async () => {
  const { own, form, stage, ada, get, receipt } = await completed([change('remarks', 'one')]);
  const session = own.session(own.studies[0], form), lines = async () => linesOf(await get('answers.ndjson'));
  const first = await get('answers.csv'), stamp = (await lines())[0].stamp;
  assert.equal(stamp, receipt.stamp);
  await (await own.member('reviewer')).post(`${session}/save`, { stage, formVersion: 1, baseVersion: null, draft: null, answers: [change('remarks', 'unfinished')] });
  await own.addStudies([{ title: 'Third' }]);
  assert.equal(await get('answers.csv'), first, 'what is not finished changes nothing');
  const base = { stage, formVersion: 1, draft: null };
  const saved = await ada.post(`${session}/save`, { ...base, baseVersion: receipt.versionId, answers: [{ ...change('remarks', 'two'), baseRevision: receipt.answers[0]!.revision }] });
  assert.deepEqual([saved.status, await lines()], [200, []], 'reopened, it is out');
  assert.equal(parseCsv(await get('answers.csv')).length, 1);
  const again = await ada.post(`${session}/complete`, { ...base, baseVersion: saved.json.versionId, answers: [] });
  assert.deepEqual((await lines()).map(line => [line.versionId, line.versionSeq, line.answers[0].value]), [[again.json.versionId, 3, 'two']]);
  const manifest = JSON.parse(await get('manifest.json')) as Schemas['ExportManifest'];
  assert.deepEqual([manifest.largestStamp, manifest.sessions, manifest.formVersions], [again.json.stamp, 1, [{ formVersion: 1, sessions: 1, answers: 1 }]]);
  await ada.post(`${session}/withdraw`, { stage, baseVersion: again.json.versionId, draft: null });
  assert.deepEqual(await lines(), []);
});

test('what could be a formula is made safe where it is asked for, numbers stay numbers', async () => {
  const texts = ['=1+1', '+cmd', '-x', '@sum', '-1.5', '\t=1', 'plain', '=HYPERLINK("http://x","y")'];
  const asked: Schemas['QuestionInput'][] = texts.map((_, i) => ({ id: `t${i}`, label: `T${i}`, kind: 'text' }));
  const { get } = await completed(texts.map((text, i) => change(`t${i}`, text)), asked);
  const [plain] = parseRecords(await get('answers.csv')), [safe] = parseRecords(await get('answers.csv?spreadsheet=safe'));
  assert.deepEqual(texts.map((_, i) => plain![`t${i}`]), texts);
  for (const [i, text] of texts.entries()) {
    const cell = safe![`t${i}`]!;
    assert.ok(cell === text || cell === `'${text}`, cell);
    assert.equal(/^[=+@-]/.test(cell) && !/^-?[0-9.]+$/.test(cell), false, `a program could run ${cell}`);
  }
  assert.equal(safe!['t4'], '-1.5');
});

test('a small export has an ETag and is 304 by it; a large one comes in pieces and has none', async () => {
  const { own, at } = await completed([change('remarks', 'x')]);
  const first = await own.admin.get(`${at}/answers.csv`), etag = first.headers.get('etag')!;
  assert.equal((await own.admin.get(`${at}/answers.csv`, { 'If-None-Match': etag })).status, 304);
  assert.match(first.headers.get('content-type')!, /^text\/csv; ?charset=utf-8/);
  const head = await own.admin.ask('HEAD', `${at}/answers.csv`);
  assert.deepEqual([head.status, head.text, head.headers.get('content-type')], [200, '', first.headers.get('content-type')]);
  const long = await Review.create(daemon, 'Long'), ada = await long.member('reviewer');
  const { form, stage } = await long.addForm({ target: 1 }, [{ id: 'remarks', label: 'Remarks', kind: 'text' }]);
  await long.addStudies(Array.from({ length: 60 }, (_, i) => ({ customId: `${i}` })));
  for (const study of long.studies)
    await ada.post(`${long.session(study, form)}/complete`, { stage, formVersion: 1, baseVersion: null, draft: null, answers: [change('remarks', 'ü'.repeat(10000))] });
  const whole = `${long.path}/forms/${form}/exports/answers.ndjson`, large = await long.admin.get(whole);
  assert.deepEqual([large.status, large.headers.get('content-length'), large.headers.get('etag')], [200, null, null]);
  assert.deepEqual([linesOf(large.text).length, (await long.admin.get(whole)).text === large.text], [60, true]);
  const top = await long.admin.ask('HEAD', whole);
  assert.deepEqual([top.status, top.text, top.headers.get('content-type')], [200, '', 'application/x-ndjson']);
});

test('an export of nothing is a table of names; of no form there is none', async () => {
  const empty = await Review.ready(daemon);
  const at = `${empty.path}/forms/${empty.form}/exports`;
  assert.equal(parseCsv((await empty.admin.get(`${at}/answers.csv`)).text).length, 1);
  const lines = await empty.admin.get(`${at}/answers.ndjson`);
  assert.deepEqual([lines.text, lines.headers.get('content-type')], ['', 'application/x-ndjson']);
  const { json: manifest } = await empty.admin.get(`${at}/manifest.json`);
  assert.deepEqual([manifest.sessions, manifest.largestStamp, manifest.formVersions], [0, null, []]);
  for (const file of ['answers.csv', 'answers.ndjson', 'series.csv', 'manifest.json']) {
    await empty.admin.refused('NotFound', 'GET', `${empty.path}/forms/${review.form}/exports/${file}`);
    await empty.admin.refused('Malformed', 'GET', `${at}/${file}?limit=5`);
  }
});

test('a project in the middle of its work holds together: drafts, copies, withdrawn sessions, exposures, imports, undone and not', async () => {
  const busy = await Review.ready(daemon, 4, { target: 3 });
  const [ada, ben] = [await busy.member('reviewer'), await busy.member('reviewer')];
  const { tab } = await busy.worked(ada);
  const theirs = (await ben.post(`${busy.session()}/complete`, busy.body({ randomised: false }))).json;
  await ada.post(`${busy.session()}/exposures`, { version: tab.base, revisions: [theirs.answers[0].revision] });
  await ben.post(`${busy.session()}/withdraw`, { stage: busy.stage, baseVersion: theirs.versionId, draft: null });
  await tab.beside().refused('DraftLeaseHeld', { dose: '1' });
  const wait = { Prefer: 'wait=30' };
  const imported = await busy.admin.ask('POST', `${busy.path}/imports`, { text: 'title,doi\nA,10.3000/1\nB,10.3000/2\n', headers: { ...wait, 'Content-Type': 'text/csv' } });
  assert.equal((await busy.admin.ask('POST', `${busy.path}/imports/${imported.json.id}/undo`, { headers: wait })).json.counts.removed, 2);
  await busy.admin.post(`${busy.path}/studies/${busy.studies[1]}/correction`, { metadataVersion: 0, set: { doi: '10.3000/1' } });
  const [line, ...more] = linesOf((await busy.admin.get(`${busy.path}/verification`)).text);
  assert.deepEqual([more, line.summary.findings, line.summary.sessions, line.summary.versions, line.summary.exposures], [[], 0, 2, 3, 1]);
  for (const role of ['reviewer', 'reconciler', 'observer'] as const)
    assert.equal((await (await busy.member(role)).refused('Refused', 'GET', `${busy.path}/verification`))['reason'], 'permission');
});
