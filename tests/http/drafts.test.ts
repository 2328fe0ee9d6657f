// What is typed and not saved yet: one tab or two, whatever gets lost on the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { asOperator, newKey, ok, type Caller, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';
import { Tab } from './support/tab.js';

let daemon: Daemon, review: Review, ada: Caller;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 60, { target: 10 });
  ada = await review.member('reviewer');
});
after(() => daemon.done());

let next = 0;
/** A tab on a study nobody has worked on. */
const tab = (person = ada) => new Tab(review, person, review.studies[next++]!);
const none = '00000000-0000-4000-8000-000000000000';
/** Of a refusal: what the draft is now. */
const told = (problem: any) => [problem.etag, problem.writeSeq, problem.leaseGeneration, problem.holder, typeof problem.leaseExpiresAt];
const draft = '/v1/projects/{project}/studies/{study}/forms/{form}/session/draft';

async function copyOf(tab: Tab, copy: string): Promise<Schemas['DraftCopyView']> {
  return ok(await tab.person.api.GET(`${draft}/conflicts/{copy}`, { params: { path: { ...tab.path, copy } } }));
}

async function save(tab: Tab, verb: 'save' | 'complete', values: Record<string, Schemas['AnswerValue']>, others: Partial<Schemas['SaveRequest']> = {}): Promise<Schemas['SessionReceipt']> {
  const receipt = ok(await tab.person.api.POST(`/v1/projects/{project}/studies/{study}/forms/{form}/session/${verb}`, {
    params: { path: tab.path, header: review.header() }, body: review.body(values, { baseVersion: tab.base, draft: tab.named, ...others }),
  }));
  [tab.base, tab.etag] = [receipt.versionId, receipt.draftEtag];
  return receipt;
}

test('a first autosave makes the session and its draft, and takes no place', async () => {
  const mine = tab();
  await ada.refused('NotFound', 'GET', mine.at);
  const receipt = await mine.put({ participants: '12', remarks: '' });
  assert.deepEqual([receipt.etag, receipt.writeSeq, receipt.baseVersion, receipt.holder], [1, 1, null, mine.holder]);
  const view = await mine.read();
  assert.deepEqual([view.etag, view.holder, view.formVersion, view.sessionId], [1, mine.holder, 1, receipt.sessionId]);
  assert.deepEqual(await mine.typed(), { participants: '12', remarks: '' }, 'half an answer is worth keeping');
  const session = (await ada.get(review.session(mine.study))).json;
  assert.deepEqual([session.state, session.versionId, session.answers], ['draft', null, []]);
  assert.deepEqual((await ada.get(`${review.path}/studies/${mine.study}`)).json.forms, [], 'the study knows nothing of it');
});

test('typing on: a PATCH is laid over what is there, a PUT is all there is', async () => {
  const mine = tab();
  await mine.put({ participants: 1, dose: '2', remarks: 'first' });
  await mine.patch({ participants: 2, begun: '2020' });
  assert.deepEqual(await mine.typed(), { dose: '2', remarks: 'first', participants: 2, begun: '2020' });
  await mine.patch({}, { reverted: [{ question: 'dose' }], content: { answers: [], withdrawn: [{ question: 'remarks' }] } });
  assert.deepEqual(await mine.typed(), { participants: 2, begun: '2020' });
  assert.deepEqual((await mine.read()).content!.withdrawn, [{ question: 'remarks' }]);
  const receipt = await mine.put({ setting: ['home'] });
  assert.deepEqual([receipt.etag, receipt.writeSeq], [4, 4]);
  assert.deepEqual(await mine.typed(), { setting: ['home'] });
});

test('the same write again is the same success, and nothing is written twice', async () => {
  const mine = tab();
  const body = mine.body({ participants: 1 }), first = await mine.put({ participants: 1 });
  for (const headers of [{ 'If-None-Match': '*' }, { 'If-Match': '"1"' }, { 'If-Match': '"9"' }] as Record<string, string>[]) {
    const again = await ada.ask('PUT', mine.at, { body, headers });
    assert.deepEqual([again.status, again.json, again.headers.get('etag')], [200, first, '"1"']);
    assert.equal(again.headers.get('idempotency-replayed'), null, 'it is no ledgered command');
  }
  assert.equal((await mine.read()).etag, 1);
  assert.deepEqual(await mine.copies(), []);
});

test('without a condition nothing is written', async () => {
  const mine = tab();
  await mine.refused('PreconditionRequired', { participants: 1 }, {});
  await ada.refused('NotFound', 'GET', mine.at);
  await mine.put({ participants: 1 });
  await mine.refused('PreconditionRequired', { participants: 2 }, {});
  await ada.refused('PreconditionRequired', 'PATCH', mine.at, { body: mine.patchBody({ participants: 2 }) });
  assert.deepEqual(await mine.copies(), [], 'such a client has what it sent');
});

test('a condition that names another draft, or none, is PreconditionFailed; what it brought is kept', async () => {
  const mine = tab();
  for (const headers of [{ 'If-Match': '"1"' }, { 'If-Match': '*' }, { 'If-None-Match': '"1"' }, { 'If-None-Match': '"*"' }, { 'If-None-Match': '*', 'If-Match': '"1"' }] as Record<string, string>[])
    await mine.refused('PreconditionFailed', { participants: 1 }, headers);
  await ada.refused('NotFound', 'GET', mine.at);
  await mine.put({ participants: 1 });
  await mine.put({ participants: 2 });
  const wrong: Record<string, string>[] = [
    { 'If-Match': '"1"' }, { 'If-Match': 'W/"2"' }, { 'If-Match': '2' }, { 'If-Match': '"02"' }, { 'If-Match': '"1", "2"' }, { 'If-Match': '*' },
    { 'If-Match': '' }, { 'If-None-Match': '*' }, { 'If-None-Match': '"9"' }, { 'If-None-Match': '*', 'If-Match': '"2"' },
  ];
  for (const headers of wrong) {
    const problem = await mine.refused('PreconditionFailed', { participants: 3 }, headers);
    assert.deepEqual(told(problem), [2, 2, 1, mine.holder, 'string'], JSON.stringify(headers));
    assert.equal(problem['current'], null);
    assert.equal((await copyOf(mine, problem['copyId'] as string)).reason, 'precondition');
  }
  assert.equal((await mine.copies()).length, 1, 'the same content is one copy');
  assert.deepEqual(await mine.typed(), { participants: 2 });
});

test('the etag that is read is the one to write with, whoever holds the draft meanwhile', async () => {
  const mine = tab(), other = mine.beside();
  await mine.put({ participants: 1 });
  const read = await ada.get(mine.at);
  assert.equal(read.headers.get('etag'), '"1"');
  await other.takeOver(mine.generation);
  assert.equal((await ada.get(mine.at)).headers.get('etag'), '"1"');
  const written = await ada.ask('PUT', mine.at, { body: other.body({ participants: 2 }), headers: { 'If-Match': read.headers.get('etag')! } });
  assert.deepEqual([written.status, written.headers.get('etag')], [200, '"2"']);
  assert.equal((await ada.get(mine.at, { 'If-None-Match': '"2"' })).status, 304);
  assert.equal((await ada.get(mine.at, { 'If-None-Match': '"1"' })).status, 200);
});

test('two tabs race the first draft: one makes it, the other is told who holds it and where its text is', async () => {
  const tabs = [tab()];
  tabs.push(tabs[0]!.beside());
  const replies = await Promise.all(tabs.map((one, i) => ada.ask('PUT', one.at, { body: one.body({ participants: i }), headers: one.condition })));
  const [winner, loser] = replies[0]!.status === 200 ? [0, 1] : [1, 0];
  const { problem } = replies[loser]!;
  assert.deepEqual([replies[winner]!.status, problem.outcome], [200, 'DraftLeaseHeld']);
  assert.deepEqual(told(problem), [1, 1, 1, tabs[winner]!.holder, 'string']);
  const copy = await copyOf(tabs[loser]!, problem['copyId'] as string);
  assert.deepEqual([copy.reason, copy.state, copy.holder, copy.places], ['leaseHeld', 'kept', tabs[loser]!.holder, 1]);
  assert.equal(copy.content!.answers[0]!.value, loser);
  assert.deepEqual(await tabs[0]!.typed(), { participants: winner });
});

test('a sequence that was used for something else is kept beside; a gap, or what comes late, is told', async () => {
  const mine = tab();
  await mine.put({ participants: 1 });
  await mine.put({ participants: 2 });
  const again = async (writeSeq: number, values: Record<string, Schemas['AnswerValue']>, method = 'PUT') => {
    const body = { ...(method === 'PUT' ? mine.body(values) : mine.patchBody(values)), writeSeq };
    const problem = await ada.refused('StaleBase', method, mine.at, { body, headers: mine.condition });
    assert.equal(problem['base'], 'draftSequence');
    assert.deepEqual(told(problem), [2, 2, 1, mine.holder, 'string']);
    return problem['copyId'];
  };
  assert.equal((await copyOf(mine, await again(2, { participants: 3 }) as string)).reason, 'sequence');
  assert.equal(await again(1, { participants: 1 }), null);
  assert.equal(await again(4, { participants: 4 }, 'PATCH'), null);
  mine.writeSeq = 7;
  assert.equal((await mine.put({ participants: 5 })).writeSeq, 8, 'the whole content says it all');
});

test('of several things that are wrong the holder is told first, then the base, the sequence, the etag', async () => {
  const mine = tab(), other = mine.beside();
  await mine.put({ dose: '1' });
  const ask = (from: Tab, method: string, more: object) =>
    ada.ask(method, mine.at, { body: { ...(method === 'PUT' ? from.body({ dose: '2' }) : from.patchBody({ dose: '2' })), ...more }, headers: { 'If-Match': '"9"' } });
  const refusals = [
    await ask(other, 'PATCH', { baseVersion: newKey(), writeSeq: 7 }), await ask(mine, 'PATCH', { baseVersion: newKey(), writeSeq: 7 }),
    await ask(mine, 'PATCH', { writeSeq: 7 }), await ask(mine, 'PATCH', {}),
  ];
  assert.deepEqual(refusals.map(({ problem }) => problem.outcome), ['DraftLeaseHeld', 'StaleAutosave', 'StaleBase', 'PreconditionFailed']);
  for (const { json } of refusals) assert.deepEqual(told(json), [1, 1, 1, mine.holder, 'string']);
  assert.deepEqual(await mine.typed(), { dose: '1' });
});

test('a place that occurs twice is ValidationFailed and kept nowhere', async () => {
  const mine = tab();
  await mine.put({ participants: 1 });
  const twice = { answers: [{ question: 'dose', value: '1', baseRevision: null }, { question: 'dose', value: '2', baseRevision: null }], withdrawn: [{ question: 'dose' }] };
  for (const method of ['PUT', 'PATCH']) {
    const body = { ...(method === 'PUT' ? mine.body({}) : mine.patchBody({})), content: twice };
    const problem = await ada.refused('ValidationFailed', method, mine.at, { body, headers: mine.condition });
    assert.deepEqual([problem['errorCount'], new Set((problem as any).errors.map((one: any) => one.code))], [2, new Set(['repeatedPlace'])]);
  }
  assert.deepEqual(await mine.copies(), []);
});

test('a first autosave on what is not there is refused', async () => {
  const mine = tab(), headers = mine.condition;
  const other = await review.addForm();
  const put = (more: Partial<Schemas['PutDraftRequest']>, at = mine.at) => ada.ask('PUT', at, { body: { ...mine.body({ dose: '1' }), ...more }, headers });
  const outcome = async (reply: Promise<{ problem: any }>) => (await reply).problem.outcome;
  assert.equal(await outcome(put({ stage: newKey() })), 'NotFound');
  assert.equal(await outcome(put({ stage: other.stage })), 'NotFound', 'a stage the form is not bound to');
  assert.equal(await outcome(put({}, mine.at.replace(mine.study, newKey()))), 'NotFound');
  assert.equal(await outcome(put({}, mine.at.replace(mine.form, newKey()))), 'NotFound');
  assert.deepEqual((await put({ formVersion: 2 })).json.errors.map((one: any) => [one.pointer, one.code]), [['/formVersion', 'unknownFormVersion']]);
  const { json: stale } = await put({ baseVersion: newKey() });
  assert.deepEqual([stale.outcome, stale.base, stale.current], ['StaleBase', 'session', null]);
  assert.equal(await outcome(ada.ask('PATCH', mine.at, { body: mine.patchBody({ dose: '1' }), headers })), 'NotFound', 'a PATCH begins nothing');
  await ada.refused('NotFound', 'GET', mine.at);
});

test('a heartbeat keeps the draft held, moves no etag, and is told when another tab holds it', async () => {
  const mine = tab(), other = mine.beside();
  await ada.refused('NotFound', 'POST', `${mine.at}/lease`, { key: null, body: { holder: mine.holder, etag: null } });
  const first = await mine.put({ participants: 1 });
  const beat = await mine.lease();
  assert.deepEqual([beat.etag, beat.writeSeq, beat.leaseGeneration, beat.holder], [1, 1, 1, mine.holder]);
  assert.ok(beat.leaseExpiresAt! >= first.leaseExpiresAt!);
  const held = await ada.refused('DraftLeaseHeld', 'POST', `${mine.at}/lease`, { key: null, body: { holder: other.holder, etag: 1 } });
  assert.deepEqual([held['copyId'], ...told(held)], [null, 1, 1, 1, mine.holder, 'string']);
});

test('take over: the other tab is told, its text is kept, and an old generation takes nothing', async () => {
  const mine = tab(), other = mine.beside();
  await ada.refused('NotFound', 'POST', `${mine.at}/takeover`, { body: { holder: mine.holder, leaseGeneration: 1 } });
  await mine.put({ participants: 1 });
  const key = newKey(), body = { holder: other.holder, leaseGeneration: 1 };
  const taken = await ada.post(`${mine.at}/takeover`, body, key);
  assert.deepEqual([taken.status, taken.json.leaseGeneration, taken.json.holder, taken.json.writeSeq, taken.json.etag], [200, 2, other.holder, 0, 1]);
  const displaced = await mine.refused('DraftLeaseHeld', { participants: 2 });
  assert.deepEqual(told(displaced), [1, 0, 2, other.holder, 'string']);
  const late = await ada.refused('StaleBase', 'POST', `${mine.at}/takeover`, { body: { holder: mine.holder, leaseGeneration: 1 } });
  assert.deepEqual([late['base'], late['leaseGeneration'], late['holder']], ['draftLease', 2, other.holder]);
  await mine.takeOver(2);
  const again = await ada.post(`${mine.at}/takeover`, body, key);
  assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [taken.text, 'true'], 'a replay wins over what is stale by now');
  await ada.refused('CommandDigestMismatch', 'POST', `${mine.at}/takeover`, { key, body: { ...body, leaseGeneration: 3 } });
  await mine.put({ participants: 2 });
  assert.deepEqual(await mine.typed(), { participants: 2 });
});

test('discarding empties the draft once, by whoever holds it and saw it', async () => {
  const mine = tab(), other = mine.beside();
  const discard = (holder: string, etag: number, key: string = newKey()) => ada.ask('DELETE', mine.at, { key, body: { holder, etag } });
  assert.equal((await discard(mine.holder, 1)).problem.outcome, 'NotFound');
  await mine.put({ participants: 1 });
  const [held, stale] = [await discard(other.holder, 1), await discard(mine.holder, 2)];
  assert.deepEqual([held.problem.outcome, held.json.copyId], ['DraftLeaseHeld', null]);
  assert.deepEqual([stale.problem.outcome, stale.json.base, ...told(stale.json)], ['StaleBase', 'draft', 1, 1, 1, mine.holder, 'string']);
  const header = review.header();
  const gone = mine.learn(ok(await ada.api.DELETE(draft, { params: { path: mine.path, header }, body: { holder: mine.holder, etag: 1 } })));
  assert.equal(gone.etag, 2);
  assert.equal((await mine.read()).content, null);
  const again = await discard(mine.holder, 1, header['Idempotency-Key']);
  assert.deepEqual([again.status, again.json, again.headers.get('idempotency-replayed')], [200, gone, 'true']);
  assert.equal((await ada.ask('DELETE', mine.at, { key: null, body: { holder: mine.holder, etag: 2 } })).problem['header'], 'Idempotency-Key');
  await mine.put({ participants: 2 });
  assert.deepEqual(await mine.typed(), { participants: 2 });
});

test('copies are listed, read, adopted and discarded; what an adoption overwrites is kept in its turn', async () => {
  const mine = tab(), other = mine.beside();
  await mine.put({ participants: 1, dose: '1' });
  const first = (await other.refused('DraftLeaseHeld', { participants: 2 }))['copyId'] as string;
  const second = (await other.refused('DraftLeaseHeld', { remarks: 'from the other' }))['copyId'] as string;
  assert.deepEqual((await mine.copies()).map(copy => copy.id).sort(), [first, second].sort());
  const adopt = async (copy: string, body: Schemas['HeldDraftRequest']) => ada.post(`${mine.at}/conflicts/${copy}/adopt`, body);
  assert.equal((await adopt(first, { holder: other.holder, etag: 1 })).problem.outcome, 'DraftLeaseHeld');
  assert.equal((await adopt(first, { holder: mine.holder, etag: 2 })).json.base, 'draft');
  assert.equal((await adopt(newKey(), { holder: mine.holder, etag: 1 })).problem.outcome, 'NotFound');

  const params = (copy: string) => ({ params: { path: { ...mine.path, copy }, header: review.header() } });
  const adopted = ok(await ada.api.POST(`${draft}/conflicts/{copy}/adopt`, { ...params(first), body: { holder: mine.holder, etag: 1 } }));
  assert.deepEqual(await mine.typed(), { dose: '1', participants: 2 });
  const before = await copyOf(mine, adopted.copyId!);
  assert.deepEqual([before.reason, before.content!.answers.map(answer => answer.value)], ['leftOut', [1, '1']]);
  const gone = await copyOf(mine, first);
  assert.deepEqual([gone.state, gone.content, gone.places], ['adopted', undefined, 0]);
  assert.equal((await adopt(first, { holder: mine.holder, etag: 2 })).problem.outcome, 'NotFound', 'once');
  const laid = ok(await ada.api.POST(`${draft}/conflicts/{copy}/adopt`, { ...params(second), body: { holder: mine.holder, etag: 2 } }));
  assert.equal(laid.copyId, undefined, 'nothing was overwritten');

  const where = params(before.id);
  const discarded = ok(await ada.api.POST(`${draft}/conflicts/{copy}/discard`, where));
  assert.equal(discarded.copyId, before.id);
  const again = await ada.ask('POST', `${mine.at}/conflicts/${before.id}/discard`, { key: where.params.header['Idempotency-Key'] });
  assert.deepEqual([again.json, again.headers.get('idempotency-replayed')], [discarded, 'true']);
  await ada.refused('NotFound', 'POST', `${mine.at}/conflicts/${before.id}/discard`);
  assert.deepEqual(await mine.copies(), []);
});

test('a ninth copy is SizeLimitExceeded and says so; one that is kept already is no ninth', async () => {
  const mine = tab(), other = mine.beside();
  await mine.put({ participants: 0 });
  for (let i = 1; i <= 8; i++) await other.refused('DraftLeaseHeld', { participants: i });
  const problem = await other.refused('SizeLimitExceeded', { participants: 9 });
  assert.deepEqual([problem['limit'], problem['copyId'], ...told(problem)], ['draftCopies', undefined, 1, 1, 1, mine.holder, 'string']);
  assert.match(problem.detail, /not kept/);
  await other.refused('DraftLeaseHeld', { participants: 1 });
  const { json: page } = await ada.get(`${mine.at}/conflicts?limit=5`);
  assert.deepEqual([page.items.length, (await ada.get(`${mine.at}/conflicts?limit=5&cursor=${page.next}`)).json.items.length], [5, 3]);
});

test('more than one Save can carry is SizeLimitExceeded; what a draft holds can be saved', async () => {
  const mine = tab();
  await mine.put({ participants: 1 });
  const large = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`q${i}`, '\u{1F9EA}'.repeat(5000)]));
  const problem = await mine.refused('SizeLimitExceeded', large);
  assert.deepEqual([problem['limit'], problem['etag']], ['draftContent', undefined]);
  const { q0: _, ...fits } = large;
  await mine.put(fits);
  const full = await ada.refused('SizeLimitExceeded', 'PATCH', mine.at, { body: mine.patchBody({ q0: large['q0']! }), headers: mine.condition });
  assert.equal(full['limit'], 'draftContent');
  const refused = await ada.refused('ValidationFailed', 'POST', `${review.session(mine.study)}/save`, { body: review.body(fits, { draft: mine.named }) });
  assert.equal(refused['errorCount'], 49, 'it is judged, not turned away for its size');
});

test('a Save consumes the draft it names, and an autosave behind it is StaleAutosave', async () => {
  const mine = tab();
  await mine.put({ participants: 1 });
  const before = { ...mine.body({ dose: '7' }) }, condition = mine.condition;
  const receipt = await save(mine, 'save', { participants: 1 });
  assert.deepEqual([receipt.versionSeq, receipt.draftEtag], [1, 2]);
  const view = await mine.read();
  assert.deepEqual([view.content, view.baseVersion, view.etag], [null, receipt.versionId, 2]);
  const late = await ada.refused('StaleAutosave', 'PUT', mine.at, { body: before, headers: condition });
  assert.deepEqual([late['current'], ...told(late)], [receipt.versionId, 2, 1, 1, mine.holder, 'string']);
  const copy = await copyOf(mine, late['copyId'] as string);
  assert.deepEqual([copy.reason, copy.baseVersion, copy.content!.answers[0]!.value], ['staleAutosave', null, '7']);
  await mine.put({ dose: '8' });
  const completed = await save(mine, 'complete', { dose: '8', randomised: false });
  assert.deepEqual([completed.state, completed.answerCount], ['completed', 3]);
});

test('a Save says which draft it was typed in: neither none nor another', async () => {
  const mine = tab(), other = mine.beside();
  await mine.put({ participants: 1 });
  const at = `${review.session(mine.study)}/save`;
  const blind = await ada.refused('DraftLeaseHeld', 'POST', at, { body: review.body({ participants: 2 }) });
  assert.deepEqual(told(blind), [1, 1, 1, mine.holder, 'string']);
  assert.equal((await copyOf(mine, blind['copyId'] as string)).content!.answers[0]!.value, 2);
  for (const wrong of [{ etag: 2 }, { writeSeq: 2 }, { holder: other.holder }]) {
    const stale = await ada.refused('StaleBase', 'POST', at, { body: review.body({ participants: 1 }, { draft: { ...mine.named, ...wrong } }) });
    assert.deepEqual([stale['base'], ...told(stale)], ['draft', 1, 1, 1, mine.holder, 'string']);
  }
  assert.deepEqual(await mine.typed(), { participants: 1 });
  await save(mine, 'save', { participants: 1 });
});

test('what a refused Save brought is still in the draft, and what a Save leaves out is kept as a copy', async () => {
  const mine = tab();
  await mine.put({ participants: 1, dose: 'much' });
  await ada.refused('ValidationFailed', 'POST', `${review.session(mine.study)}/save`, { body: review.body({ dose: 'much' }, { draft: mine.named }) });
  assert.deepEqual(await mine.typed(), { participants: 1, dose: 'much' });
  await save(mine, 'save', { participants: 1 });
  const [copy] = await mine.copies();
  assert.deepEqual([copy!.reason, (await copyOf(mine, copy!.id)).content!.answers.map(one => one.question)], ['leftOut', ['participants', 'dose']]);
});

test('withdrawing consumes the draft too', async () => {
  const mine = tab();
  await mine.put({ participants: 1 });
  await save(mine, 'save', { participants: 1 });
  const at = `${review.session(mine.study)}/withdraw`, body = { stage: review.stage, baseVersion: mine.base, draft: null };
  await mine.put({ dose: '2' });
  await ada.refused('DraftLeaseHeld', 'POST', at, { body });
  const gone = await ada.post(at, { ...body, draft: mine.named });
  assert.deepEqual([gone.status, gone.json.draftEtag], [200, mine.etag! + 1]);
  assert.deepEqual((await mine.copies()).map(copy => copy.reason), ['leftOut']);
});

test('a draft survives kill -9, byte for byte, and its tab goes on', async () => {
  const own = await Daemon.start();
  try {
    const there = await Review.ready(own);
    const person = await there.member('reviewer'), mine = new Tab(there, person), other = mine.beside();
    await mine.put({ remarks: 'Überblick, \u{1F9EA}', participants: 1 });
    await other.refused('DraftLeaseHeld', { dose: '3' });
    const paths = [mine.at, `${mine.at}/conflicts`];
    const before = await Promise.all(paths.map(async path => (await person.get(path)).text));
    await own.kill();
    await own.restart();
    assert.deepEqual(await Promise.all(paths.map(async path => (await person.get(path)).text)), before);
    await mine.patch({ participants: 2 });
    assert.deepEqual(await mine.typed(), { remarks: 'Überblick, \u{1F9EA}', participants: 2 });
  } finally {
    await own.done();
  }
});

test('another person\'s draft and copies are not there, and nobody else sees what is typed', async () => {
  const mine = tab(), other = mine.beside();
  const { sessionId } = await mine.put({ remarks: 'private words' });
  const copy = (await other.refused('DraftLeaseHeld', { remarks: 'other private words' }))['copyId'] as string;
  const body = { holder: mine.holder, etag: 1 };
  for (const person of [await review.member('reviewer'), await review.member('reviewer', 'reconciler', 'admin')]) {
    for (const path of [mine.at, `${mine.at}/conflicts/${copy}`]) await person.refused('NotFound', 'GET', path);
    assert.deepEqual((await person.get(`${mine.at}/conflicts`)).json.items, []);
    await person.refused('NotFound', 'POST', `${mine.at}/conflicts/${copy}/adopt`, { body });
    await person.refused('NotFound', 'POST', `${mine.at}/conflicts/${copy}/discard`);
    await person.refused('NotFound', 'POST', `${mine.at}/takeover`, { body: { holder: newKey(), leaseGeneration: 1 } });
    await person.refused('NotFound', 'POST', `${mine.at}/lease`, { key: null, body });
    await person.refused('NotFound', 'DELETE', mine.at, { body });
  }
  const seen = await review.admin.get(`${review.path}/sessions/${sessionId}/draft`);
  assert.deepEqual([seen.json.authorId, seen.json.places, seen.json.holder, seen.json.studyId], [ada.id, 1, mine.holder, mine.study]);
  assert.ok(!seen.text.includes('private'));
});

test('an administrator releases a draft; the tab that held it may hold it again, or another', async () => {
  const mine = tab(), other = mine.beside();
  const { sessionId } = await mine.put({ participants: 1 });
  const params = { params: { path: { project: review.project, session: sessionId }, header: review.header() } };
  const lease = async () => ok(await review.admin.api.GET('/v1/projects/{project}/sessions/{session}/draft', { params: { path: params.params.path } }));
  assert.equal((await lease()).holder, mine.holder);
  const released = ok(await review.admin.api.POST('/v1/projects/{project}/sessions/{session}/draft/release', params));
  assert.deepEqual([released.holder, released.leaseExpiresAt, released.etag, released.leaseGeneration], [null, null, 1, 2]);
  const again = await review.admin.ask('POST', `${review.path}/sessions/${sessionId}/draft/release`, { key: params.params.header['Idempotency-Key'] });
  assert.deepEqual([again.json, again.headers.get('idempotency-replayed')], [released, 'true']);
  assert.equal((await lease()).holder, null);
  other.etag = 1;
  await other.put({ participants: 2 });
  await mine.refused('DraftLeaseHeld', { participants: 3 });
  await review.admin.refused('NotFound', 'POST', `${review.path}/sessions/${none}/draft/release`);
  await review.admin.refused('NotFound', 'GET', `${review.path}/sessions/${none}/draft`);
});

test('the operator may see that there is a draft and release it, and nothing of what is typed', async () => {
  const mine = tab();
  const { sessionId } = await mine.put({ remarks: 'private words' });
  const at = `${review.path}/sessions/${sessionId}/draft`;
  const seen = await asOperator(daemon, 'GET', at);
  assert.deepEqual([seen.status, seen.json.holder, seen.json.places, seen.text.includes('private')], [200, mine.holder, 1, false]);
  const released = await asOperator(daemon, 'POST', `${at}/release`);
  assert.deepEqual([released.status, released.json.holder, released.json.leaseGeneration], [200, null, 2], released.text);
  for (const path of [mine.at, `${mine.at}/conflicts`, review.session(mine.study)]) assert.equal((await asOperator(daemon, 'GET', path)).problem.outcome, 'NotFound', path);
  const lock = await asOperator(daemon, 'POST', `${mine.at}/takeover`, { holder: newKey(), leaseGeneration: 2 });
  assert.equal(lock.problem.outcome, 'NotFound', 'the operator is no member');
  const { items } = (await review.admin.get(`${review.path}/studies/${mine.study}/history`)).json;
  assert.deepEqual([items[0].draftEvent, items[0].reviewerId, items[0].actorId === ada.id], ['released', ada.id, false]);
});

test('HEAD answers as GET does, and OPTIONS says what the path takes', async () => {
  const mine = tab();
  assert.equal((await ada.ask('HEAD', mine.at)).status, 404);
  await mine.put({ participants: 1 });
  const [got, head] = [await ada.get(mine.at), await ada.ask('HEAD', mine.at)];
  assert.deepEqual([head.status, head.text, head.headers.get('etag'), head.headers.get('content-length')], [200, '', '"1"', String(Buffer.byteLength(got.text))]);
  assert.equal((await ada.ask('HEAD', mine.at, { headers: { 'If-None-Match': '"1"' } })).status, 304);
  assert.equal((await ada.ask('HEAD', `${mine.at}/lease`)).status, 405);
  for (const [more, allow] of [['', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'], ['/lease', 'POST, OPTIONS'], ['/conflicts', 'GET, HEAD, OPTIONS']])
    assert.equal((await ada.ask('OPTIONS', mine.at + more, { token: null })).headers.get('allow'), allow);
});
