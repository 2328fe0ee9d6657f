// A real list of studies, row by row against a count of its own.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { newKey, type Schemas } from './support/caller.js';
import { parseCsv, parseRecords } from './support/csv.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

const file = join(resolve(process.env['EVIDENCED_TEST_DATA'] ?? '../shared/data'), 'synergy/van_de_Schoot_2018.csv');
const skip = existsSync(file) ? false : 'EVIDENCED_TEST_DATA has no synergy/van_de_Schoot_2018.csv';

type Row = Schemas['StudyRow'];

const rowsOf = (text: string): Row[] => parseRecords(text).map(record => {
  const row: Row = {};
  if (record['doi']) row.doi = record['doi'];
  if (record['pmid']) row.pmid = record['pmid'];
  if (record['openalex_id']) row.openAlexId = record['openalex_id'];
  return row;
});

/** Identifiers as this test understands them, written apart from the service. */
const identifiersOf = (row: Row) => [
  row.doi && `doi ${decodeURIComponent(row.doi.trim()).replace(/^https?:\/\/(dx\.)?doi\.org\//i, '').toLowerCase()}`,
  row.pmid && `pmid ${row.pmid.replace(/\D+$/, '').replace(/^.*\//, '')}`,
  row.openAlexId && `openalex ${row.openAlexId.replace(/^.*\//, '').toUpperCase()}`,
].filter((one): one is string => Boolean(one));

/** What should become of each row: the number of the row it is one study with, or why it is refused. */
function expectedOf(rows: Row[]): (string | number)[] {
  const holders = new Map<string, number>();
  return rows.map((row, at) => {
    const identifiers = identifiersOf(row);
    if (identifiers.length === 0) return 'neitherTitleNorIdentifier';
    const found = new Set(identifiers.flatMap(one => holders.get(one) ?? []));
    if (found.size > 1) return 'matchesTwoStudies';
    if (found.size === 1) return [...found][0]!;
    for (const one of identifiers) holders.set(one, at);
    return at;
  });
}

async function send(review: Review, rows: Row[], keys: string[]): Promise<Schemas['BatchReceipt'][]> {
  const receipts: Schemas['BatchReceipt'][] = [];
  for (let at = 0; at < rows.length; at += 1000) {
    const { status, json, text } = await review.admin.post(`${review.path}/studies/batch`, { studies: rows.slice(at, at + 1000), skipRefused: true }, keys[at / 1000]);
    assert.equal(status, 200, text);
    receipts.push(json);
  }
  return receipts;
}

test('6,225 rows in chunks of a thousand: 4,544 added, 342 matched, 1,339 refused for want of any identifier', { skip }, async () => {
  const rows = rowsOf(readFileSync(file, 'utf8'));
  assert.equal(rows.length, 6225);
  const review = await Review.create(daemon, 'van de Schoot 2018');
  const keys = Array.from({ length: 7 }, newKey);
  const receipts = await send(review, rows, keys);
  const answered = receipts.flatMap(receipt => receipt.rows);
  const studyOf = new Map<number, string>();
  const differ: string[] = [];
  expectedOf(rows).forEach((expected, at) => {
    const { result, code, studyId } = answered[at]!;
    const fits = typeof expected === 'string' ? result === 'refused' && code === expected
      : expected === at ? result === 'added' : result === 'matched' && studyId === studyOf.get(expected);
    if (result === 'added') studyOf.set(at, studyId!);
    if (!fits) differ.push(`row ${at + 2} ${JSON.stringify(rows[at])}: ${result} ${code ?? studyId}, expected ${expected}`);
  });
  assert.deepEqual(differ, []);
  const total = (name: 'added' | 'matched' | 'refused') => receipts.reduce((sum, receipt) => sum + receipt[name], 0);
  assert.deepEqual([total('added'), total('matched'), total('refused')], [4544, 342, 1339]);
  for (const row of answered.filter(one => one.result === 'refused')) assert.equal(row.code, 'neitherTitleNorIdentifier');

  const again = await send(review, rows, keys);
  assert.deepEqual(again, receipts, 'sent again with the same keys it is answered the same');
  const anew = await send(review, rows, Array.from({ length: 7 }, newKey));
  assert.deepEqual([anew.reduce((sum, one) => sum + one.added, 0), anew.reduce((sum, one) => sum + one.matched, 0)], [0, 4886], 'and with new ones nothing is added');

  let listed = 0, cursor = '';
  for (;;) {
    const { json } = await review.admin.get(`${review.path}/studies?limit=500${cursor}`);
    listed += json.items.length;
    if (json.next === null) break;
    cursor = `&cursor=${json.next}`;
  }
  assert.equal(listed, 4544);
});

test('two imports of the same rows at once add each study once', async () => {
  const review = await Review.create(daemon, 'Twice at once');
  const rows = Array.from({ length: 300 }, (_, i) => ({ doi: `10.1000/${i}`, title: `Study ${i}` }));
  const shuffled = [...rows].reverse();
  const replies = await Promise.all([rows, shuffled, rows, shuffled].map(studies => review.admin.post(`${review.path}/studies/batch`, { studies })));
  const receipts = replies.map(reply => { assert.equal(reply.status, 200, reply.text); return reply.json as Schemas['BatchReceipt']; });
  assert.equal(receipts.reduce((sum, receipt) => sum + receipt.added, 0), 300);
  assert.equal(receipts.reduce((sum, receipt) => sum + receipt.matched, 0), 900);
  const ids = new Set(receipts.flatMap(receipt => receipt.rows.map(row => row.studyId)));
  assert.equal(ids.size, 300);
});

test('CSV is read with its quotes, line ends and doubled quotes', () => {
  assert.deepEqual(parseCsv('a,"b, c","d ""e"""\r\n"two\nlines",,x\n'), [['a', 'b, c', 'd "e"'], ['two\nlines', '', 'x']]);
  assert.deepEqual(parseCsv('\ufeffa\n1'), [['a'], ['1']]);
  assert.deepEqual(parseCsv(''), []);
  assert.throws(() => parseCsv('"a'));
  assert.throws(() => parseRecords('a,b\n1'));
});
