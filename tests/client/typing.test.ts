// One tab: typing, pauses, Save, coming back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeBrowser, type FakeTab } from './support/browser.js';
import { keyOf, Service } from './support/model.js';
import { FakeTimers } from './support/time.js';

const dose = { question: 'dose' }, blinding = { question: 'blinding' };

function setUp() {
  const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers);
  return { timers, service, browser, tab: browser.tab() };
}

const typedIn = (service: Service) => Object.fromEntries([...service.draft?.content ?? []].map(([key, change]) => [JSON.parse(key)[0], change.answer?.value ?? null]));
const writes = (tab: FakeTab) => tab.network.calls.filter(call => call.path === '/draft' && call.method !== 'GET');

test('the first pause in typing makes the draft, later ones send only what changed', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  assert.equal(draft.state.status, 'idle');
  draft.answer(dose, '1');
  draft.answer(dose, '1.5');
  assert.equal(draft.state.status, 'dirty');
  await timers.advance(799);
  assert.equal(service.draft, null, 'not before the pause');
  await timers.advance(1);
  assert.equal(draft.state.status, 'saved');
  assert.deepEqual(typedIn(service), { dose: '1.5' });
  draft.answer(blinding, 'double');
  await timers.advance(800);
  draft.revert(dose);
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { blinding: 'double' });
  const [put, patch, revert] = writes(tab);
  assert.deepEqual([put!.method, put!.body.writeSeq, put!.body.baseVersion], ['PUT', 1, null]);
  assert.deepEqual([patch!.method, patch!.body.writeSeq, patch!.body.content.answers.length], ['PATCH', 2, 1]);
  assert.deepEqual([revert!.method, revert!.body.reverted, revert!.body.content], ['PATCH', [{ question: 'dose' }], { answers: [], withdrawn: [] }]);
});

test('who types on and on is saved every five seconds all the same', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  for (let i = 0; i < 30; i++) {
    draft.answer(dose, `${i}`);
    await timers.advance(400);
  }
  assert.equal(writes(tab).length, 2);
  assert.deepEqual(typedIn(service), { dose: '25' });
});

test('what is typed while a write is under way goes with the next one, and one write at a time', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  tab.network.holds = call => call.path === '/draft' && call.method !== 'GET';
  draft.answer(dose, '1');
  await timers.advance(800);
  assert.equal(draft.state.status, 'saving');
  draft.answer(dose, '2');
  draft.answer(blinding, 'double');
  await timers.advance(3000);
  assert.equal(writes(tab).length, 1);
  tab.network.release();
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '2', blinding: 'double' });
  assert.equal(draft.state.status, 'saved');
});

test('an answer typed back to what the version says is no change', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  assert.equal((await draft.save()).outcome, 'Done');
  draft.answer(dose, '2');
  await timers.advance(800);
  assert.equal(service.draft!.content!.size, 1);
  draft.answer(dose, '1');
  assert.equal(draft.state.changed, 0);
  await timers.advance(800);
  assert.equal(service.draft!.content!.size, 0);
});

test('Save sends what is typed first, consumes the draft, and typing goes on from the new version', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  draft.answer(blinding, 'double', 'as the protocol says');
  const saved = await draft.save();
  assert.equal(saved.outcome, 'Done');
  assert.deepEqual(service.done, ['POST /save']);
  assert.equal(service.draft!.content, null);
  assert.deepEqual([draft.state.status, draft.state.changed, draft.state.versionId], ['idle', 0, service.versionId]);
  draft.answer(dose, '2');
  await timers.advance(800);
  const second = writes(tab).at(-1)!;
  assert.equal(second.body.content.answers[0].baseRevision, service.answers.get(keyOf(dose))!.revision);
  draft.withdraw(blinding);
  assert.equal((await draft.complete()).outcome, 'Done');
  assert.deepEqual([service.state, service.versionSeq, [...service.answers.values()].map(answer => answer.value)], ['completed', 2, ['2']]);
  assert.equal(service.copies.length, 0, 'nothing had to be kept aside');
});

test('what is typed while a Save is under way belongs to the next one', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  draft.answer(blinding, 'single');
  await timers.advance(800);
  tab.network.holds = call => call.path === '/save';
  const saving = draft.save();
  await timers.advance(0);
  assert.equal(draft.state.status, 'saving');
  draft.answer(dose, '2');
  draft.withdraw(blinding);
  await timers.advance(3000);
  tab.network.release();
  assert.equal((await saving).outcome, 'Done');
  assert.equal(service.answers.get(keyOf(dose))!.value, '1');
  assert.deepEqual(draft.allShown().map(shown => [shown.question, shown.value, shown.isChanged]), [['dose', '2', true]]);
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '2', blinding: null });
  assert.equal((await draft.save()).outcome, 'Done');
  assert.deepEqual([...service.answers.values()].map(answer => answer.value), ['2']);
  assert.equal(service.copies.length, 0);
});

test('an answer taken back in one version can be given anew in the next', async () => {
  const { service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await draft.save();
  draft.withdraw(dose);
  await draft.save();
  draft.answer(dose, '3');
  assert.equal((await draft.save()).outcome, 'Done');
  assert.equal(service.answers.get(keyOf(dose))!.value, '3');
});

test('what is taken back while a Save of it is under way is taken back from the version', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  draft.answer(blinding, 'single');
  await draft.save();
  draft.answer(dose, '2');
  draft.withdraw(blinding);
  await timers.advance(800);
  tab.network.holds = call => call.path === '/save';
  const saving = draft.save();
  await timers.advance(0);
  draft.revert(dose);
  draft.revert(blinding);
  tab.network.release();
  await saving;
  assert.deepEqual([draft.shown(dose)?.value, draft.shown(blinding)?.value], ['1', 'single']);
  assert.equal((await draft.save()).outcome, 'Done');
  assert.deepEqual(Object.fromEntries([...service.answers.values()].map(answer => [answer.question, answer.value])), { dose: '1', blinding: 'single' });
});

test('two clicks on Save are one after the other, and the second saves what is left', async () => {
  const { service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  const [first, second] = await Promise.all([draft.save(), draft.save()]);
  assert.deepEqual([first.outcome, second.outcome], ['Done', 'Done']);
  assert.equal(service.answers.size, 1);
  assert.equal(service.copies.length, 0);
});

test('a reload in the middle of typing loses nothing, whether the service had it or not', async () => {
  const { timers, service, tab } = setUp();
  let draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  draft.answer(blinding, 'double');
  draft = await tab.reload();
  assert.equal(draft.shown(dose)?.value, '1', 'from the service');
  assert.equal(draft.shown(blinding)?.value, 'double', 'from this browser');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double' });
  assert.equal(draft.state.status, 'saved');
  assert.deepEqual(tab.browser.local.names().filter(name => name.startsWith('typed:')), [], 'and is not kept twice');
});

test('what was taken back and not sent is taken back after a reload', async () => {
  const { timers, service, tab } = setUp();
  let draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  draft.revert(dose);
  draft = await tab.reload();
  assert.equal(draft.shown(dose), null);
  await timers.advance(800);
  assert.deepEqual(typedIn(service), {});
});

test('a closed tab is known to be closed: another one of the browser goes on at once', async () => {
  const { timers, service, browser, tab } = setUp();
  const first = await tab.open();
  first.answer(dose, '1');
  await timers.advance(800);
  first.answer(blinding, 'double');
  await tab.crash();
  const other = browser.tab();
  const draft = await other.open();
  assert.deepEqual(service.done, ['POST /draft/takeover']);
  assert.equal(draft.state.canEdit, true);
  assert.deepEqual(draft.allShown().map(shown => [shown.question, shown.value]), [['dose', '1'], ['blinding', 'double']]);
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '1', blinding: 'double' });
});

test('the lease is kept while the page is open, and lapses when it is closed', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(10 * 60_000);
  assert.ok(service.draft!.until > timers.wall());
  draft.close();
  assert.equal(draft.state.status, 'closed');
  assert.equal(timers.pending, 0, 'nothing is left to happen');
  await timers.advance(90_000);
  assert.ok(service.draft!.until <= timers.wall());
  assert.throws(() => draft.answer(dose, '2'), /closed/);
});

test('discard empties the draft, here and there', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  assert.equal((await draft.save()).outcome, 'Done');
  draft.answer(dose, '2');
  await timers.advance(800);
  draft.answer(blinding, 'single');
  assert.equal((await draft.discard()).outcome, 'Done');
  assert.deepEqual([draft.state.status, draft.shown(dose)?.value, draft.shown(blinding)], ['idle', '1', null]);
  assert.deepEqual([service.draft!.content, service.done.at(-1)], [null, 'DELETE /draft']);
  assert.deepEqual(await draft.copies.list(), { outcome: 'Done', value: [] });
  draft.answer(blinding, 'double');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { blinding: 'double' });
});

test('Withdraw frees the place and keeps what was typed as a copy, which can be adopted', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await draft.save();
  draft.answer(blinding, 'single');
  assert.equal((await draft.withdrawSession()).outcome, 'Done');
  assert.equal(service.state, 'withdrawn');
  const listed = await draft.copies.list();
  assert.equal(listed.outcome, 'Done');
  if (listed.outcome !== 'Done') return;
  assert.deepEqual(listed.value.map(copy => [copy.where, copy.reason, copy.places]), [['service', 'leftOut', 1]]);
  assert.deepEqual([draft.state.status, draft.shown(blinding)], ['idle', null]);
  assert.equal((await draft.copies.adopt(listed.value[0]!)).outcome, 'Done');
  assert.equal(draft.shown(blinding)?.value, 'single');
  await timers.advance(800);
  assert.equal((await draft.save()).outcome, 'Done');
  assert.equal(service.answers.size, 2);
});

test('Fix takes over what another form changed, and Upgrade a newer form: what is typed stays typed', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await draft.save();
  const revision = service.changeElsewhere('dose', '9');
  draft.answer(blinding, 'double');
  assert.equal((await draft.fix([{ question: 'dose', revision }])).outcome, 'Done');
  assert.deepEqual([draft.shown(dose)?.value, draft.shown(blinding)?.value, draft.shown(blinding)?.isChanged], ['9', 'double', true]);
  assert.deepEqual([typedIn(service), service.kept], [{ blinding: 'double' }, []]);
  assert.equal((await draft.upgrade(2)).outcome, 'Done');
  draft.answer(dose, '10');
  await timers.advance(800);
  assert.deepEqual([typedIn(service), service.draft!.formVersion, service.kept], [{ blinding: 'double', dose: '10' }, 2, []]);
  const saved = await draft.save();
  assert.equal(saved.outcome === 'Done' && saved.receipt.formVersion, 2);
  assert.deepEqual([...service.answers.values()].map(answer => answer.value), ['10', 'double']);
});

test('a draft typed for an older version of the form is written whole for the one shown now', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  const again = await tab.reload({ formVersion: 2 });
  again.answer(blinding, 'double');
  await timers.advance(800);
  assert.deepEqual([writes(tab).at(-1)!.method, service.draft!.formVersion, service.draft!.content!.size], ['PUT', 2, 2]);
});

test('listeners hear each change of state once, and none after they left', async () => {
  const { timers, tab } = setUp();
  const draft = await tab.open();
  const heard: string[] = [];
  const leave = draft.subscribe(() => heard.push(draft.state.status));
  draft.answer(dose, '1');
  const before = draft.state;
  assert.equal(draft.state, before, 'the same object while nothing changes');
  await timers.advance(800);
  leave();
  draft.answer(dose, '2');
  assert.deepEqual([...new Set(heard)], ['dirty', 'saving', 'saved']);
});
