// Files of references, as they come: what is taken, what is refused and where, and what an operation tells of itself.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { Caller, newKey, ok, type Reply, type Schemas } from './support/caller.js';
import { checkAnswer, operationOf } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon, review: Review;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.create(daemon, 'Imports');
});
after(() => daemon.done());

type Operation = Schemas['OperationView'];
type Row = Schemas['OperationRowView'];
type Sent = { query?: string; wait?: string; key?: string; type?: string; person?: Caller; at?: Review };

const csv = 'text/csv', tsv = 'text/tab-separated-values', ris = 'application/x-research-info-systems';
let made = 0;
/** Rows nobody has sent before. */
const fresh = (count: number) => Array.from({ length: count }, () => `Study ${++made},10.2000/${made}\n`);
const file = (rows: string[]) => `title,doi\n${rows.join('')}`;

function send(text: string | Uint8Array, { query = '', wait = 'wait=30', key = newKey(), type = csv, person, at = review }: Sent = {}): Promise<Reply> {
  const headers = { 'Content-Type': type, ...(wait === '' ? {} : { Prefer: wait }) };
  return (person ?? at.admin).ask('POST', `${at.path}/imports${query}`, { text, key, headers });
}

async function settled(reply: Reply): Promise<Operation> {
  assert.deepEqual([reply.status, reply.json?.phase], [200, 'settled'], reply.text);
  return reply.json;
}

/** Ask until it is settled, as a client without patience for a wait does. */
async function polled(location: string): Promise<Operation> {
  for (;;) {
    const { json, headers } = await review.admin.get(location);
    assert.equal(headers.has('retry-after'), json.status === 'running', 'there while it is under way');
    if (json.status !== 'running') return json;
  }
}

const rowsOf = async (operation: string, result: string, at = review): Promise<Row[]> =>
  (await at.admin.get(`${at.path}/operations/${operation}/rows?limit=500&result=${result}`)).json.items;

async function studyOf(row: Row): Promise<Schemas['StudyView']> {
  return ok(await review.admin.api.GET('/v1/projects/{project}/studies/{study}', { params: { path: { project: review.project, study: row.studyId! } } }));
}

/** Of the file's refusal: code, row and column. */
async function refusal(text: string | Uint8Array, sent: Sent = {}) {
  const reply = await send(text, sent);
  assert.equal(reply.problem.outcome, 'ValidationFailed', reply.text);
  return (reply.json.errors as Schemas['ValidationError'][]).map(error => [error.code, error.row, error.column] as const);
}

test('accepted at once it is 202 with its address and when to ask; polled it ends, and the poll has an ETag', async () => {
  const begun = await send(file(fresh(3)), { wait: '' });
  assert.deepEqual([begun.status, begun.headers.get('retry-after'), begun.headers.get('preference-applied')], [202, '1', null], begun.text);
  const location = begun.headers.get('location')!;
  assert.equal(location, `${review.path}/operations/${begun.json.id}`);
  const ended = await polled(location);
  assert.deepEqual([ended.status, ended.kind, ended.refusal, ended.undoes, ended.undoneBy], ['succeeded', 'import', null, null, null]);
  assert.deepEqual([ended.requestedBy, ended.progress, ended.dryRun, ended.skipRefused], [review.admin.id, { done: 3, total: 3 }, false, false]);
  assert.ok(ended.finishedAt! >= ended.requestedAt);
  const { headers } = await review.admin.get(location);
  assert.equal((await review.admin.get(location, { 'If-None-Match': headers.get('etag')! })).status, 304);
});

test('who prefers to wait is answered when it is done, and told what was applied', async () => {
  const waits: [string, string | null][] = [['wait=30', 'wait=30'], ['wait=1000', 'wait=30'], ['respond-async, wait="20"', 'wait=20'], ['Wait = 5', 'wait=5'], ['wait=7, wait=9', 'wait=7']];
  for (const [prefer, applied] of waits) {
    const reply = await send(file(fresh(2)), { wait: prefer });
    await settled(reply);
    assert.deepEqual([reply.headers.get('preference-applied'), reply.headers.get('location')], [applied, `${review.path}/operations/${reply.json.id}`], prefer);
  }
  for (const prefer of ['wait=0', 'wait=x', 'wait=-1', 'wait', 'respond-async', 'wait=1.5', ',,;=,']) {
    const reply = await send(file(fresh(2)), { wait: prefer });
    assert.deepEqual([reply.status, reply.headers.get('preference-applied')], [202, null], prefer);
    await polled(reply.headers.get('location')!);
  }
});

test('the same key is the same operation, however it is sent; with another file or option it is CommandDigestMismatch', async () => {
  const key = newKey(), text = file(fresh(4)), first = await settled(await send(text, { key }));
  const again = await send(text, { key });
  assert.deepEqual([again.status, again.json, again.headers.get('idempotency-replayed')], [200, first, 'true']);
  const async = await send(text, { key, wait: '' });
  assert.deepEqual([async.status, async.json.id, async.headers.get('idempotency-replayed')], [202, first.id, 'true']);
  for (const other of [{ text: `${text}x,10.2000/other\n` }, { query: '?dryRun=true' }, { query: '?skipRefused=true' }, { query: '?delimiter=comma' }, { query: '?label=doi' }, { type: tsv }])
    assert.equal((await send(other.text ?? text, { key, ...other })).problem.outcome, 'CommandDigestMismatch', JSON.stringify(other));
  const person = await review.member('admin');
  assert.equal((await send(text, { key, person })).problem.outcome, 'CommandDigestMismatch', 'a key is one person\'s');
  assert.deepEqual((await settled(await send(text))).counts, { rows: 4, added: 0, matched: 4, refused: 0, removed: 0, stayed: 0 });
});

test('a 5,000-row import cut by a 1 s client time-out and retried three times imports once', async () => {
  const there = await Review.create(daemon, 'Impatient'), key = newKey();
  const text = file(fresh(5000));
  const cut = (milliseconds: number) => fetch(`${daemon.api}${there.path}/imports`, {
    method: 'POST', body: text, signal: AbortSignal.timeout(milliseconds),
    headers: { Authorization: `Bearer ${there.admin.token}`, 'Idempotency-Key': key, 'Content-Type': csv, Prefer: 'wait=30' },
  }).then(response => response.text()).catch(() => undefined);
  await cut(5);
  await cut(40);
  await cut(1000);
  const last = await settled(await send(text, { key, at: there }));
  assert.deepEqual(last.counts, { rows: 5000, added: 5000, matched: 0, refused: 0, removed: 0, stayed: 0 });
  assert.deepEqual((await there.admin.get(`${there.path}/operations`)).json.items.map((one: Operation) => one.id), [last.id]);
});

test('an import that was begun is finished after kill -9, once, and answers the key it was sent with', async () => {
  const own = await Daemon.start();
  try {
    const there = await Review.create(own, 'Killed'), key = newKey(), text = file(fresh(5000));
    const begun = await send(text, { at: there, key, wait: '' });
    assert.equal(begun.status, 202, begun.text);
    await own.kill();
    await own.restart();
    const done = await settled(await send(text, { at: there, key }));
    assert.deepEqual([done.id, done.counts.added, done.counts.matched], [begun.json.id, 5000, 0]);
    assert.equal((await settled(await send(text, { at: there }))).counts.matched, 5000);
  } finally {
    await own.done();
  }
});

const fixtures = readdirSync('tests/fixtures/references').filter(name => name !== 'README.md');
const types: Record<string, string> = { csv, tsv, ris };

test('files as reference managers write them are imported', async () => {
  assert.ok(fixtures.length >= 10);
  for (const name of fixtures) {
    const there = await Review.create(daemon, name);
    const done = await settled(await send(readFileSync(`tests/fixtures/references/${name}`), { at: there, type: types[name.split('.').pop()!]!, query: '?skipRefused=true' }));
    assert.deepEqual([done.status, done.counts.added > 0, done.counts.added + done.counts.matched + done.counts.refused], ['succeeded', true, done.counts.rows], name);
    assert.equal((await settled(await send(readFileSync(`tests/fixtures/references/${name}`), { at: there, type: types[name.split('.').pop()!]!, query: '?skipRefused=true&dryRun=true' }))).counts.rows, done.counts.rows);
  }
});

const data = join(resolve(process.env['EVIDENCED_TEST_DATA'] ?? '../shared/data'), 'references');

test('every file of the test data is imported', { skip: existsSync(data) ? false : 'EVIDENCED_TEST_DATA has no references' }, async () => {
  const refused: string[] = [], names = readdirSync(data).filter(one => types[one.split('.').pop()!] !== undefined);
  assert.ok(names.length >= 10);
  for (const name of names) {
    const there = await Review.create(daemon, name);
    const reply = await send(readFileSync(join(data, name)), { at: there, type: types[name.split('.').pop()!]!, query: '?skipRefused=true' });
    if (reply.status === 200) assert.ok(reply.json.counts.rows > 0 && reply.json.status === 'succeeded', name);
    else refused.push(...reply.json.errors.map((error: Schemas['ValidationError']) => `${name}: ${error.code} ${error.row}`));
  }
  assert.deepEqual(refused, []);
});

test('row 999 of 1,000 bad: nothing is imported and the row is named; with skipRefused all but it', async () => {
  const there = await Review.create(daemon, 'One bad row');
  const rows = fresh(1000);
  rows[997] = 'Bad,none\n'; // the header is row 1
  assert.deepEqual(await refusal(file(rows), { at: there }), [['malformedIdentifier', 999, 'doi']]);
  assert.deepEqual((await there.admin.get(`${there.path}/studies`)).json.items, []);
  assert.deepEqual((await there.admin.get(`${there.path}/operations`)).json.items, [], 'and nothing was begun');
  const done = await settled(await send(file(rows), { at: there, query: '?skipRefused=true' }));
  assert.deepEqual([done.counts.added, done.counts.refused, done.skipRefused], [999, 1, true]);
  const [row] = await rowsOf(done.id, 'refused', there);
  assert.deepEqual([row!.place, row!.code, row!.column, row!.studyId], [999, 'malformedIdentifier', 'doi', undefined]);
});

test('four imports of the same rows at once add each study once', async () => {
  const there = await Review.create(daemon, 'At once'), text = file(fresh(300));
  const done = await Promise.all([0, 1, 2, 3].map(async () => settled(await send(text, { at: there }))));
  const sum = (name: 'added' | 'matched') => done.reduce((total, one) => total + one.counts[name], 0);
  assert.deepEqual([sum('added'), sum('matched')], [300, 900]);
  assert.equal((await there.admin.get(`${there.path}/studies?limit=500`)).json.items.length, 300);
});

test('what separates the columns is seen from the header; where two may, the file is refused with both', async () => {
  for (const [text, query] of [['title;doi\nA;10.2000/s1\n', ''], ['sep=;\ntitle;doi\nA;10.2000/s2\n', ''], ['title\tdoi\nA\t10.2000/s3\n', ''], ['title,year;doi\nA,1;10.2000/s4\n', '?delimiter=semicolon']] as const) {
    const done = await settled(await send(text, { query: query === '' ? '?skipRefused=true' : `${query}&skipRefused=true` }));
    assert.equal(done.counts.rows, 1, text);
  }
  const { json } = await send('title,authors;year\nA,B;C\n');
  assert.deepEqual([json.outcome, json.errors[0].code, json.errors[0].candidates], ['ValidationFailed', 'ambiguousDelimiter', ',;']);
  assert.match(json.errors[0].message, /comma, semicolon/);
  for (const delimiter of ['comma', 'semicolon']) assert.equal((await send('title,authors;year\nA,B;C\n', { query: `?delimiter=${delimiter}&dryRun=true&skipRefused=true` })).status, 200, delimiter);
});

test('what a table may hold is kept as it is', async () => {
  const text = '\ufefftitle,authors,year,doi,customId,journal\r\n'
    + '"Quoted, with ""quotes""\nand a line","Doe, J; Roe, R",2019,https://doi.org/10.2000/KEPT,00012,"=1+1"\r\n'
    + '\r\n\r\n'
    + 'Überblick \u{1F9EA},,,,123456789012345678901234567890,\r\n\r\n';
  const done = await settled(await send(text));
  assert.deepEqual([done.counts.rows, done.counts.added], [2, 2]);
  const [first, second] = await rowsOf(done.id, 'added');
  const study = await studyOf(first!);
  assert.deepEqual([study.title, study.authors, study.year, study.doi, study.customId, study.journal],
    ['Quoted, with "quotes"\nand a line', 'Doe, J; Roe, R', 2019, '10.2000/kept', '00012', '=1+1']);
  const other = await studyOf(second!);
  assert.deepEqual([other.title, other.customId], ['Überblick \u{1F9EA}', '123456789012345678901234567890']);
  const { json } = await review.admin.get(`${review.path}/operations/${done.id}/rows`);
  assert.deepEqual(json.items.map((row: Row) => row.result), ['empty'], 'empty rows in the middle are told, those at the end are not');
});

test('a file nobody can read is refused whole, with the place', async () => {
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
  const refused: [string, string | Uint8Array, Sent, readonly [string, number | undefined, string | undefined]][] = [
    ['nothing', '', {}, ['noHeader', undefined, undefined]],
    ['only a header', 'title,doi\n', {}, ['empty', undefined, undefined]],
    ['no column anybody knows', 'foo,bar\n1,2\n', {}, ['noKnownColumn', 1, undefined]],
    ['one field twice', 'title,doi,DOI\nA,10.2000/x,10.2000/y\n', {}, ['sameFieldTwice', 1, 'DOI']],
    ['a label that is no column', 'title\nA\n', { query: '?label=nope' }, ['unknownColumn', undefined, 'nope']],
    ['bytes that are no UTF-8', bytes('title,doi\nA,10.2000/x\nB', [0xff], ',10.2000/y\n'), {}, ['invalidUtf8', 3, 'title']],
    ['a NUL', bytes('title,doi\nA', [0], ',10.2000/x\n'), {}, ['nulByte', 2, 'title']],
    ['UTF-16', bytes([0xff, 0xfe], Buffer.from('title\nA\n', 'utf16le').toString('latin1')), {}, ['utf16', undefined, undefined]],
    ['a quote nothing ends', 'title,doi\n"A,10.2000/x\n', {}, ['unterminatedQuote', 2, 'title']],
    ['a stray quote', 'title,doi\n"A"b,10.2000/x\n', {}, ['strayQuote', 2, 'title']],
    ['no RIS', 'title,doi\nA,10.2000/x\n', { type: ris }, ['noRecord', undefined, undefined]],
  ];
  for (const [what, text, sent, place] of refused) {
    const found = await refusal(text, { ...sent, query: sent.query ?? '?skipRefused=true' });
    assert.deepEqual(found, [place], what);
  }
});

test('every refused row is told with its place, and a row that hits two studies is one', async () => {
  const [one, two] = [++made, ++made];
  await settled(await send(`title,doi,pmid\nA,10.2000/${one},${one}\nB,10.2000/${two},${two}\n`));
  const text = `title,doi,pmid,year\nC,10.2000/${one},${two},\n,,,2001\nD,10.2000/n${one},,MMXX\n`;
  const found = await refusal(text);
  assert.deepEqual(found.map(([code, row]) => [code, row]), [['neitherTitleNorIdentifier', 3], ['malformedYear', 4]], 'what the file alone tells');
  const done = await settled(await send(text, { query: '?skipRefused=true' }));
  assert.deepEqual((await rowsOf(done.id, 'refused')).map(row => [row.place, row.code]), [[2, 'matchesTwoStudies'], [3, 'neitherTitleNorIdentifier'], [4, 'malformedYear']]);
  assert.deepEqual([done.status, done.counts.refused, done.counts.added], ['succeeded', 3, 0]);
  const whole = await send(`title,doi,pmid\nE,10.2000/e${one},\nC,10.2000/${one},${two}\n`);
  const operation = (whole.status === 200 ? whole.json : undefined) as Operation | undefined;
  assert.deepEqual([operation?.status, operation?.refusal, operation?.counts.added], ['refused', 'ValidationFailed', 0], whole.text);
  assert.deepEqual(await rowsOf(operation!.id, 'added'), [], 'all or nothing');
});

test('labels are carried under their columns\' names, and a matched study keeps its own', async () => {
  const doi = `10.2000/${++made}`, query = '?label=label_included&label=Note%20of%20mine';
  const done = await settled(await send(`title,doi,label_included,Note of mine\nA,${doi},1,"two\nlines"\nB,,,\n`, { query }));
  const [a, b] = await rowsOf(done.id, 'added');
  assert.deepEqual((await studyOf(a!)).labels, [{ name: 'label_included', value: '1' }, { name: 'Note of mine', value: 'two\nlines' }]);
  assert.deepEqual((await studyOf(b!)).labels ?? [], []);
  await settled(await send(`title,doi,label_included\nZ,${doi},0\n`, { query: '?label=label_included' }));
  assert.equal((await studyOf(a!)).labels![0]!.value, '1');
});

test('options that are none are Malformed and named', async () => {
  const wrong: [string, string][] = [
    ['dryRun=yes', 'dryRun'], ['skipRefused=1', 'skipRefused'], ['delimiter=%2C', 'delimiter'], ['delimiter=pipe', 'delimiter'], ['label=', 'label'], [`label=${'x'.repeat(401)}`, 'label'],
    ['dryRun=true&dryRun=false', 'dryRun'], ['limit=5', 'limit'], ['DryRun=true', 'DryRun'], [Array.from({ length: 51 }, (_, i) => `label=l${i}`).join('&'), 'label'],
  ];
  for (const [query, parameter] of wrong) {
    const { problem } = await send(file(fresh(1)), { query: `?${query}` });
    assert.deepEqual([problem.outcome, problem['parameter']], ['Malformed', parameter], query.slice(0, 40));
  }
  const { id } = (await review.admin.get(`${review.path}/operations?limit=1`)).json.items[0];
  await review.admin.refused('Malformed', 'GET', `${review.path}/operations/${id}/rows?result=lost`);
  for (const path of ['operations', `operations/${id}/rows`])
    for (const query of ['limit=0', 'cursor=zz', 'result=x&result=y', 'phase=settled']) await review.admin.refused('Malformed', 'GET', `${review.path}/${path}?${query}`);
});

test('a dry run says what would become of the rows and leaves nothing', async () => {
  const there = await Review.create(daemon, 'Dry');
  const text = `${file(fresh(3))}Bad,none\n`;
  assert.equal((await refusal(text, { at: there, query: '?dryRun=true' })).length, 1);
  const tried = await settled(await send(text, { at: there, query: '?dryRun=true&skipRefused=true' }));
  assert.deepEqual([tried.dryRun, tried.counts.added, tried.counts.refused], [true, 3, 1]);
  assert.deepEqual((await there.admin.get(`${there.path}/studies`)).json.items, []);
  const undo = await there.admin.ask('POST', `${there.path}/imports/${tried.id}/undo`, { headers: { Prefer: 'wait=30' } });
  assert.deepEqual([undo.problem.outcome, undo.json.errors[0].code], ['ValidationFailed', 'nothingToUndo']);
  assert.equal((await settled(await send(text, { at: there, query: '?skipRefused=true' }))).counts.added, 3);
});

test('an undo takes away what nobody touched, once, and the file can be imported again', async () => {
  const there = await Review.create(daemon, 'Undone');
  const { form, stage } = await there.addForm();
  const imported = await settled(await send(file(fresh(4)), { at: there, key: newKey() }));
  const added = await rowsOf(imported.id, 'added', there);
  const ada = await there.member('reviewer');
  await ada.post(`${there.session(added[0]!.studyId!, form)}/save`, { ...there.body({ participants: 1 }), stage });
  const corrected = await there.admin.post(`${there.path}/studies/${added[1]!.studyId}/correction`, { metadataVersion: 0, set: { title: 'Better' } });
  assert.equal(corrected.status, 200, corrected.text);

  const path = { project: there.project, operation: imported.id }, header = { ...there.header(), Prefer: 'wait=30' };
  const undone = ok(await there.admin.api.POST('/v1/projects/{project}/imports/{operation}/undo', { params: { path, header } })) as Operation;
  assert.deepEqual([undone.kind, undone.undoes, undone.counts.removed, undone.counts.stayed, undone.status], ['importUndo', imported.id, 2, 2, 'succeeded']);
  assert.equal((await there.admin.get(`${there.path}/operations/${imported.id}`)).json.undoneBy, undone.id);
  assert.deepEqual((await rowsOf(undone.id, 'stayed', there)).map(row => [row.studyId, row.code]), [[added[0]!.studyId, 'touched'], [added[1]!.studyId, 'touched']]);
  const left = (await there.admin.get(`${there.path}/studies`)).json.items.map((study: Schemas['StudyView']) => study.id);
  assert.deepEqual(left.sort(), [added[0]!.studyId, added[1]!.studyId].sort());
  for (const row of added.slice(2)) await ada.refused('NotFound', 'POST', `${there.session(row.studyId!, form)}/save`, { body: { ...there.body({}), stage } });

  const again = await there.admin.ask('POST', `${there.path}/imports/${imported.id}/undo`, { key: header['Idempotency-Key'], headers: { Prefer: 'wait=30' } });
  assert.deepEqual([again.json, again.headers.get('idempotency-replayed')], [undone, 'true']);
  const twice = await there.admin.refused('ValidationFailed', 'POST', `${there.path}/imports/${imported.id}/undo`);
  assert.equal((twice as any).errors[0].code, 'alreadyUndone');
  await there.admin.refused('NotFound', 'POST', `${there.path}/imports/${newKey()}/undo`);
  const reimported = await settled(await send(file([...Array(4).keys()].map(i => `Study ${made - 3 + i},10.2000/${made - 3 + i}\n`)), { at: there }));
  assert.deepEqual([reimported.counts.added, reimported.counts.matched], [2, 2]);
});

test('operations are listed newest first, page by page, and are the project\'s and its administrators\' alone', async () => {
  const there = await Review.create(daemon, 'Listed');
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await settled(await send(file(fresh(1)), { at: there }))).id);
  const found: string[] = [];
  for (let cursor = ''; ;) {
    const { json } = await there.admin.get(`${there.path}/operations?limit=2${cursor}`);
    found.push(...json.items.map((one: Operation) => one.id));
    if (json.next === null) break;
    cursor = `&cursor=${json.next}`;
  }
  assert.deepEqual(found, ids);
  for (const path of [`operations/${ids[0]}`, `operations/${ids[0]}/rows`]) {
    await review.admin.refused('NotFound', 'GET', `${review.path}/${path}`);
    await there.admin.refused('NotFound', 'GET', `${there.path}/${path.replace(ids[0]!, newKey())}`);
    assert.equal((await (await there.member('reviewer')).refused('Refused', 'GET', `${there.path}/${path}`))['reason'], 'permission');
  }
});

test('rows are walked without a gap in the file\'s order, whatever the page\'s size', async () => {
  const rows = fresh(1200);
  for (const at of [3, 500, 1100]) rows[at] = `Bad ${at},none\n`;
  const done = await settled(await send(file(rows), { query: '?skipRefused=true' }));
  const walk = async (limit: number, result: string) => {
    const places: number[] = [];
    for (let cursor = ''; ;) {
      const { json } = await review.admin.get(`${review.path}/operations/${done.id}/rows?limit=${limit}${result}${cursor}`);
      assert.ok(json.items.length <= limit);
      places.push(...json.items.map((row: Row) => row.place));
      if (json.next === null) return places;
      cursor = `&cursor=${json.next}`;
    }
  };
  for (const limit of [2, 500]) assert.deepEqual(await walk(limit, ''), [5, 502, 1102]);
  assert.deepEqual(await walk(500, '&result=added'), [...Array(1200).keys()].map(i => i + 2).filter(place => ![5, 502, 1102].includes(place)));
});

test('TSV and RIS are what they say; anything else is UnsupportedMediaType', async () => {
  const doi = () => `10.2000/${++made}`;
  await settled(await send(`title\tdoi\nA, B; C\t${doi()}\n`, { type: `${tsv}; charset=UTF-8` }));
  const read = await settled(await send(`\ufeffTY  - JOUR\r\nAU  - Doe, J.\r\nAU  - Roe, R.\r\nTI  - A title\r\nPY  - 2019/03/01\r\nDO  - ${doi()}\r\nER  - \r\n\r\nTY  - JOUR\r\nTI  - Second\r\nER  - \r\n`, { type: ris }));
  const [first] = await rowsOf(read.id, 'added');
  const study = await studyOf(first!);
  assert.deepEqual([read.counts.added, study.title, study.authors, study.year], [2, 'A title', 'Doe, J.; Roe, R.', 2019]);
  for (const type of ['application/json', 'text/plain', 'application/vnd.ms-excel', 'text/csv; charset=iso-8859-1', ''])
    assert.equal((await send(file(fresh(1)), { type })).problem.outcome, 'UnsupportedMediaType', type);
  const coded = await review.admin.ask('POST', `${review.path}/imports`, { text: 'x', headers: { 'Content-Type': csv, 'Content-Encoding': 'gzip' } });
  assert.equal(coded.problem.outcome, 'UnsupportedMediaType');
});

/** A head alone; the answer comes before any body is sent. */
function answerToHead(headers: Record<string, string>): Promise<{ status: number; headers: Headers; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(daemon.api);
    const all = { Authorization: `Bearer ${review.admin.token}`, 'Idempotency-Key': newKey(), 'Content-Type': csv, ...headers };
    const asked = request({ hostname, port, agent: false, method: 'POST', path: `${review.path}/imports`, headers: all }, response => {
      let text = '';
      response.setEncoding('utf8').on('data', piece => { text += piece; }).on('end', () => {
        resolve({ status: response.statusCode!, headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])), text });
        asked.destroy();
      });
    });
    asked.on('error', reject).flushHeaders();
  });
}

test('a file larger than an import takes is refused by its head alone; one without a length too', async () => {
  for (const [headers, status, outcome] of [[{ 'Content-Length': String(64 * 1024 * 1024 + 1) }, 413, 'BodyTooLarge'], [{ 'Transfer-Encoding': 'chunked' }, 411, 'LengthRequired']] as const) {
    const answer = await answerToHead(headers);
    assert.deepEqual([answer.status, JSON.parse(answer.text).outcome], [status, outcome]);
    checkAnswer(operationOf('POST', `${review.path}/imports`), answer);
  }
});

test('more rows than one import may have are refused by their row; as many as it may are taken', async () => {
  const rows = (count: number) => `title\n${'x\n'.repeat(count)}`;
  assert.deepEqual((await refusal(rows(50001)))[0]!.slice(0, 2), ['tooManyRows', 50002]);
  const { status, text } = await send(rows(50000), { query: '?dryRun=true' });
  assert.equal(status, 200, text);
});

test('whose role is taken away while it runs imports nothing', async () => {
  const there = await Review.create(daemon, 'Revoked'), person = await there.member('admin');
  const begun = await send(file(fresh(3000)), { at: there, person, wait: '' });
  assert.equal(begun.status, 202, begun.text);
  await there.admin.post(`${there.path}/members`, { investigatorId: person.id, roles: [] });
  const location = begun.headers.get('location')!;
  let operation: Operation;
  do operation = (await there.admin.get(location)).json; while (operation.status === 'running');
  const listed = (await there.admin.get(`${there.path}/studies`)).json.items.length;
  if (operation.status === 'succeeded') assert.equal(operation.counts.added, 3000, 'it was faster');
  else assert.deepEqual([operation.status, operation.refusal, listed], ['refused', 'Refused', 0]);
});

test('a correction moves identifiers, and names who holds one', async () => {
  const [one, two] = [++made, ++made];
  const done = await settled(await send(`title,doi\nA,10.2000/${one}\nB,10.2000/${two}\n`));
  const [a, b] = (await rowsOf(done.id, 'added')).map(row => row.studyId!) as [string, string];
  const at = `${review.path}/studies/${a}/correction`;
  const correct = (body: Schemas['CorrectStudyRequest'], key: string = newKey()) => review.admin.post(at, body, key);
  const held = await correct({ metadataVersion: 0, set: { doi: `10.2000/${two}` } });
  assert.deepEqual([held.problem.outcome, held.json.errors[0].code, held.json.errors[0].studyId], ['ValidationFailed', 'heldByAnotherStudy', b]);
  const key = newKey(), body = { metadataVersion: 0, set: { pmid: `${one}`, title: 'Better' }, clear: ['doi'] };
  const moved = await correct(body, key);
  assert.deepEqual([moved.status, moved.json.metadataVersion], [200, 1], moved.text);
  assert.deepEqual([(await correct(body, key)).headers.get('idempotency-replayed')], ['true']);
  const stale = await correct({ metadataVersion: 0, set: { title: 'Worse' } });
  assert.deepEqual([stale.problem.outcome, stale.json.base, stale.json.declared, stale.json.current], ['StaleBase', 'metadata', 0, 1]);
  const study = await studyOf({ studyId: a } as Row);
  assert.deepEqual([study.title, study.doi, study.pmid], ['Better', undefined, `${one}`]);
  const freed = await settled(await send(`title,doi,pmid\nC,10.2000/${one},\nD,,${one}\n`));
  assert.deepEqual([freed.counts.added, freed.counts.matched], [1, 1], 'the old one is free, the new one is held');
});
