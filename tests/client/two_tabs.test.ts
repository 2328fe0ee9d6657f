// Two tabs of one reviewer on one session: who types, who waits, and where everything typed is in the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Copy, Draft, Place } from '#client';
import { FakeBrowser } from './support/browser.js';
import { Service } from './support/model.js';
import { FakeTimers, settle } from './support/time.js';

const dose = { question: 'dose' }, blinding = { question: 'blinding' };

/** together: two tabs of one browser, which hear of each other. Otherwise on two computers. */
async function setUp(together: boolean) {
  const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers);
  const other = together ? browser : new FakeBrowser(service, timers);
  const a = browser.tab(), b = other.tab();
  return { timers, service, browser, a, b };
}

const typedIn = (service: Service) => Object.fromEntries([...service.draft?.content ?? []].map(([key, change]) => [JSON.parse(key)[0], change.answer?.value ?? null]));

async function copiesOf(draft: Draft): Promise<Copy[]> {
  const listed = await draft.copies.list();
  assert.equal(listed.outcome, 'Done');
  return listed.outcome === 'Done' ? listed.value : [];
}

async function said(draft: Draft, copy: Copy, place: Place): Promise<unknown> {
  const read = await draft.copies.read(copy);
  assert.equal(read.outcome, 'Done');
  return read.outcome === 'Done' ? read.value?.answers.find(answer => answer.question === place.question)?.value : undefined;
}

/** Take over while time goes on, as the other tab may have to be waited for. */
async function takeOver(draft: Draft, timers: FakeTimers) {
  const taking = draft.takeOver();
  await timers.advance(2000);
  assert.equal((await taking).outcome, 'Done');
}

test('as soon as one tab types, the other one of the browser is read only and shows what is typed', async () => {
  const { timers, a, b } = await setUp(true);
  const first = await a.open(), second = await b.open();
  assert.equal(second.state.canEdit, true);
  first.answer(dose, '1');
  await timers.advance(800);
  assert.deepEqual([second.state.status, second.state.canEdit, second.shown(dose)?.value], ['readOnly', false, '1']);
  assert.equal(second.state.heldBy!.holder, (await a.client.tab).id);
});

test('two tabs race the first draft: one has it, the other keeps its text as a copy', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  second.answer(dose, '2');
  await timers.advance(800);
  assert.deepEqual([first.state.status, second.state.status], ['saved', 'readOnly']);
  assert.deepEqual(typedIn(service), { dose: '1' });
  assert.equal(second.state.problem?.outcome, 'DraftLeaseHeld');
  assert.equal(second.shown(dose)?.value, '2', 'what was typed is still to be seen');
  const [copy] = await copiesOf(second);
  assert.deepEqual([copy!.where, copy!.reason, await said(second, copy!, dose)], ['service', 'leaseHeld', '2']);
});

test('take over turns the other tab read only, and brings what it typed along', async () => {
  const { timers, service, a, b } = await setUp(true);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  await timers.advance(800);
  first.answer(blinding, 'double'); // not sent yet
  await takeOver(second, timers);
  assert.deepEqual([first.state.status, second.state.canEdit], ['readOnly', true]);
  assert.deepEqual(second.allShown().map(shown => shown.value), ['1', 'double'], 'the first tab wrote it before it gave the draft away');
  assert.deepEqual(await copiesOf(second), []);
  second.answer(dose, '2');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '2', blinding: 'double' });
  assert.equal(first.shown(dose)?.value, '1');
  await timers.advance(15_000);
  assert.equal(first.shown(dose)?.value, '2', 'the tab that only reads follows');
});

test('what a displaced tab types before it knows becomes a copy, and can be adopted', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  await timers.advance(800);
  await takeOver(second, timers);
  second.answer(blinding, 'double');
  await timers.advance(800);
  first.answer(dose, 'typed too late');
  await timers.advance(800);
  assert.equal(first.state.status, 'readOnly');
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double' });
  const [copy] = await copiesOf(second);
  assert.equal(await said(second, copy!, dose), 'typed too late');
  assert.equal((await second.copies.adopt(copy!)).outcome, 'Done');
  assert.deepEqual([second.shown(dose)?.value, second.shown(blinding)?.value], ['typed too late', 'double']);
  const [left] = await copiesOf(second);
  assert.deepEqual([left!.reason, await said(second, left!, dose)], ['leftOut', '1'], 'what it replaced is kept in its turn');
  assert.equal((await second.copies.discard(left!)).outcome, 'Done');
  assert.deepEqual(await copiesOf(second), []);
});

test('the stale tab\'s empty fields never overwrite', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  await timers.advance(800);
  assert.equal((await first.save()).outcome, 'Done');
  first.answer(blinding, 'double');
  await timers.advance(800);
  assert.equal(second.shown(dose), null, 'it has not looked since it was empty');
  await takeOver(second, timers);
  assert.deepEqual(second.allShown().map(shown => shown.value), ['1', 'double']);
  second.answer({ question: 'remarks' }, 'seen');
  assert.equal((await second.complete()).outcome, 'Done');
  assert.deepEqual([...service.answers.values()].map(answer => answer.value).sort(), ['1', 'double', 'seen']);
});

test('a draft delivered after another tab completed is refused and kept', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const second = await b.open();
  await takeOver(second, timers);
  a.network.isDown = true; // it sleeps and hears nothing
  assert.equal((await second.complete()).outcome, 'Done');
  await timers.advance(0);
  second.close();
  await timers.advance(91_000);
  a.network.isDown = false;
  first.answer(blinding, 'late');
  await timers.advance(800);
  assert.equal(first.state.status, 'stale');
  assert.deepEqual([...service.answers.values()].map(answer => answer.value), ['1']);
  assert.equal((await first.reload()).outcome, 'Done');
  assert.deepEqual([first.state.status, first.state.versionId, first.shown(blinding)], ['idle', service.versionId, null]);
  const [copy] = await copiesOf(first);
  assert.equal(await said(first, copy!, blinding), 'late');
  assert.equal((await first.copies.adopt(copy!)).outcome, 'Done');
  await timers.advance(800);
  assert.equal((await first.save()).outcome, 'Done');
  assert.deepEqual([...service.answers.values()].map(answer => answer.value), ['1', 'late']);
});

test('what is typed in a tab that may only read stays in this browser, and becomes a copy of its own', async () => {
  const { timers, service, a, b } = await setUp(true);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const second = await b.open();
  assert.equal(second.state.status, 'readOnly');
  second.answer(dose, 'typed all the same');
  second.answer(dose, 'typed all the same, and on');
  await timers.advance(5000);
  assert.equal(service.copies.length, 0, 'no copy for each key');
  await takeOver(second, timers);
  assert.equal(second.shown(dose)?.value, '1');
  const [copy] = await copiesOf(second);
  assert.deepEqual([copy!.where, await said(second, copy!, dose)], ['browser', 'typed all the same, and on']);
  assert.equal((await second.copies.adopt(copy!)).outcome, 'Done');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: 'typed all the same, and on' });
  const [left] = await copiesOf(second);
  assert.deepEqual([left!.where, await said(second, left!, dose)], ['browser', '1']);
  await second.copies.discard(left!);
  assert.deepEqual(await copiesOf(second), []);
});

test('when the other tab is gone and its lease lapsed, the tab that waited may type, and asks before it writes', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const second = await b.open();
  first.close();
  await timers.advance(80_000);
  assert.equal(second.state.status, 'readOnly');
  await timers.advance(30_000);
  assert.deepEqual([second.state.status, second.shown(dose)?.value], ['saved', '1']);
  second.answer(blinding, 'double');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double' });
  assert.deepEqual(b.network.calls.filter(call => call.method === 'POST').map(call => call.path), ['/draft/lease']);
});

test('a computer whose clock is ahead does not make a copy of the other tab\'s living draft', async () => {
  const { timers, service, a } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const ahead = new FakeTimers(), late = new FakeBrowser(service, ahead).tab();
  Object.assign(ahead, { began: ahead.began + 3600_000 });
  const second = await late.open();
  assert.equal(second.state.canEdit, true, 'by its clock the lease is over');
  second.answer(blinding, 'double');
  await ahead.advance(800);
  assert.deepEqual([second.state.status, service.copies.length], ['readOnly', 0]);
  assert.equal(second.shown(blinding)?.value, 'double');
});

test('both changed different places while the lease lay idle: both are there', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  a.network.isDown = true; // it sleeps
  await timers.advance(100_000);
  const second = await b.open();
  second.answer(blinding, 'double');
  await timers.advance(800);
  second.close();
  await timers.advance(100_000);
  a.network.isDown = false;
  first.answer({ question: 'remarks' }, 'mine');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double', remarks: 'mine' });
  assert.equal(first.state.status, 'saved');
});

test('both changed one place while the lease lay idle: the one that comes second decides', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  a.network.isDown = true;
  first.answer(dose, 'mine');
  await timers.advance(100_000);
  const second = await b.open();
  second.answer(dose, 'theirs');
  await timers.advance(800);
  second.close();
  await timers.advance(100_000);
  a.network.isDown = false;
  first.wake();
  await timers.advance(30_000);
  assert.equal(first.state.status, 'stale');
  assert.deepEqual(typedIn(service), { dose: 'theirs' });
  assert.equal(first.shown(dose)?.value, 'mine');
  assert.equal((await first.reload()).outcome, 'Done');
  assert.equal(first.shown(dose)?.value, 'theirs');
  const copies = await copiesOf(first);
  assert.deepEqual(await Promise.all(copies.map(copy => said(first, copy, dose))), ['mine']);
});

test('when another tab saved, one that has nothing of its own goes on from there', async () => {
  const { timers, service, a, b } = await setUp(true);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  assert.equal((await first.save()).outcome, 'Done');
  await timers.advance(0);
  assert.equal(second.state.versionId, service.versionId);
  assert.equal(second.shown(dose)?.value, '1');
});

test('a Save of the tab that does not hold the draft is not sent', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const second = await b.open();
  const result = await second.save();
  assert.deepEqual([result.outcome, 'status' in result && result.status], ['Blocked', 'readOnly']);
  assert.deepEqual(service.done, []);
});

test('a racing first autosave and Save leave no zombie draft', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open(), second = await b.open();
  a.network.holds = call => call.path === '/draft' && call.method === 'PUT';
  first.answer(dose, 'autosaved');
  await timers.advance(800);
  assert.equal((await second.save()).outcome, 'Done');
  a.network.release();
  await timers.advance(800);
  assert.equal(service.draft!.content, null);
  assert.equal(first.state.status, 'stale');
  assert.equal((await first.reload()).outcome, 'Done');
  const [copy] = await copiesOf(first);
  assert.equal(await said(first, copy!, dose), 'autosaved');
});

test('an administrator released the draft: the tab goes on, and its Save succeeds', async () => {
  const { timers, service, a } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  service.release();
  assert.equal((await first.save()).outcome, 'Done');
  first.answer(dose, '2');
  await timers.advance(800);
  service.release();
  first.answer(dose, '3');
  await timers.advance(800);
  assert.deepEqual([first.state.status, typedIn(service)['dose'], service.copies.length], ['saved', '3', 0]);
});

test('a duplicated tab is another tab', async () => {
  for (const hasLocks of [true, false]) {
    const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers, hasLocks);
    const a = browser.tab();
    const first = await a.open();
    first.answer(dose, '1');
    await timers.advance(800);
    const b = browser.duplicate(a);
    const second = await b.open();
    assert.notEqual((await a.client.tab).id, (await b.client.tab).id);
    assert.equal(second.state.status, 'readOnly');
    const c = browser.duplicate(b);
    await c.open();
    assert.equal(new Set(await Promise.all([a, b, c].map(async tab => (await tab.client.tab).id))).size, 3);
    const before = (await a.client.tab).id;
    await a.reload();
    assert.equal((await a.client.tab).id, before, 'a reload is the same tab');
  }
});

test('two copies of one tab that start at once do not both take its id', async () => {
  const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers, false);
  const a = browser.tab();
  a.load();
  const claiming = a.client.tab;
  await timers.advance(1000);
  await claiming;
  const copies = [browser.duplicate(a), browser.duplicate(a)];
  await a.crash();
  for (const copy of copies) copy.load();
  const claims = copies.map(copy => copy.client.tab);
  await timers.advance(1000);
  const [b, c] = await Promise.all(claims);
  assert.notEqual(b!.id, c!.id);
});

test('tabs that never hear of each other still lose nothing', async () => {
  const { timers, service, browser, a, b } = await setUp(true);
  browser.hub.isSilent = true;
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  await timers.advance(800);
  second.answer(dose, '2');
  await timers.advance(800);
  assert.deepEqual([first.state.status, second.state.status], ['saved', 'readOnly']);
  await takeOver(second, timers);
  await settle();
  await timers.advance(31_000); // the first tab's heartbeat
  assert.equal(first.state.status, 'readOnly');
  const copies = await copiesOf(second);
  assert.deepEqual(await Promise.all(copies.map(copy => said(second, copy, dose))), ['2']);
  assert.deepEqual(typedIn(service), { dose: '1' });
});

test('a take over that was not answered before the page crashed does not let old text write over the draft', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open();
  first.answer(dose, '1');
  await timers.advance(800);
  const second = await b.open();
  second.answer(dose, 'typed before it was seen');
  first.answer(dose, '2');
  await timers.advance(800);
  b.network.fault = call => call.path === '/draft/takeover' ? 'unanswered' : undefined;
  void second.takeOver();
  await timers.advance(1100);
  assert.equal(service.draft!.holder, (await b.client.tab).id);
  b.network.fault = () => undefined;
  const again = await b.reload();
  assert.equal(again.shown(dose)?.value, '2');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '2' });
  const [copy] = await copiesOf(again);
  assert.deepEqual([copy!.where, await said(again, copy!, dose)], ['browser', 'typed before it was seen']);
});

test('the first autosave landed and the page crashed before it was told: the next page goes on from it', async () => {
  const { timers, service, a } = await setUp(false);
  const first = await a.open();
  a.network.fault = call => call.method === 'PUT' ? 'unanswered' : undefined;
  first.answer(dose, '1');
  await timers.advance(800);
  first.answer(blinding, 'double');
  a.network.fault = () => undefined;
  const again = await a.reload();
  assert.deepEqual(again.allShown().map(shown => shown.value), ['1', 'double']);
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double' });
  assert.deepEqual(await copiesOf(again), []);
});

test('a copy was adopted without an answer and the page crashed: what was typed since does not write over it unseen', async () => {
  const { timers, service, a, b } = await setUp(false);
  const first = await a.open(), second = await b.open();
  first.answer(dose, '1');
  second.answer(dose, '2');
  await timers.advance(800);
  const [copy] = await copiesOf(first);
  a.network.fault = call => call.path.endsWith('/adopt') ? 'unanswered' : undefined;
  assert.equal((await first.copies.adopt(copy!, { patienceMs: 0 })).outcome, 'Unanswered');
  assert.deepEqual([typedIn(service), first.shown(dose)?.value], [{ dose: '2' }, '1']);
  first.answer(dose, '3');
  a.network.fault = () => undefined;
  const again = await a.reload();
  assert.equal(again.shown(dose)?.value, '2');
  const copies = await copiesOf(again);
  assert.deepEqual(await Promise.all(copies.map(async one => [one.where, await said(again, one, dose)])).then(all => all.sort()), [['browser', '3'], ['service', '1']]);
});
