// Commands: one id for one intent, through lost answers, waits, reloads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Commands, memoryStore, Wire, type Result, type TextStore } from '#client';
import { problem, Script, type Line } from './support/script.js';
import { FakeTimers } from './support/time.js';

const members = '/v1/projects/{project}/members' as const;
const request = { path: { project: 'p' }, body: { investigatorId: 'i', roles: ['reviewer' as const] } };
const receipt = { status: 200, body: { commandId: 'c', stamp: '1', id: 'm', version: 1 } };

function setUp(...lines: Line[]) {
  const timers = new FakeTimers(), script = new Script(...lines), store = memoryStore();
  const tokens: boolean[] = [];
  const wire = new Wire({ baseUrl: 'https://review.test/', token: renew => { tokens.push(renew); return renew ? 'new' : 'old'; }, fetch: script.fetch, timers, attemptMs: 10_000 });
  let made = 0;
  const page = (kept: TextStore = store) => new Commands(wire, kept, () => `id-${++made}`);
  return { timers, script, store, tokens, page, commands: page(), keys: () => script.asked.map(asked => asked.headers.get('idempotency-key')) };
}

const send = (commands: Commands, options: object = {}) => commands.send('post', members, request, { random: () => 0.5, ...options });

/** What it ends in, while time goes on. */
async function ended<T>(timers: FakeTimers, what: Promise<T>, ms = 120_000): Promise<T> {
  await timers.advance(ms);
  return what;
}

test('a command is sent with its id, its body and the token, and gives the receipt', async () => {
  const { script, commands } = setUp(receipt);
  const result = await send(commands);
  assert.ok(result.outcome === 'Done');
  assert.deepEqual([result.receipt.id, result.commandId, result.replayed], ['m', 'id-1', false]);
  const [asked] = script.asked;
  assert.deepEqual([asked!.method, asked!.path, asked!.body], ['POST', '/v1/projects/p/members', JSON.stringify(request.body)]);
  assert.deepEqual([asked!.headers.get('authorization'), asked!.headers.get('content-type'), asked!.headers.get('idempotency-key')], ['Bearer old', 'application/json', 'id-1']);
});

test('without an answer the same goes again, with the same id and the same bytes, later each time', async () => {
  const { timers, script, commands, keys } = setUp('lost', 'lost', 'lost', { ...receipt, headers: { 'idempotency-replayed': 'true' } });
  const waits: number[] = [];
  const result = await ended(timers, send(commands, { onWait: (ms: number) => waits.push(ms) }));
  assert.ok(result.outcome === 'Done' && result.replayed);
  assert.deepEqual(waits, [250, 500, 1000], 'half of a bound that doubles');
  assert.deepEqual(new Set(keys()), new Set(['id-1']));
  assert.equal(new Set(script.asked.map(asked => asked.body)).size, 1);
});

test('an attempt that hangs is given up and made again', async () => {
  const { timers, commands, keys } = setUp('hangs', receipt);
  assert.equal((await ended(timers, send(commands))).outcome, 'Done');
  assert.deepEqual(keys(), ['id-1', 'id-1']);
});

for (const [outcome, status] of [['RetryableConflict', 409], ['Locked', 409], ['Fenced', 409], ['OutcomeUnknown', 409], ['PublicationInProgress', 409], ['StaleProjection', 409], ['Busy', 429], ['StoreUnavailable', 503], ['Draining', 503], ['RequestTimeout', 408]] as const) {
  test(`${outcome} is waited for as long as it says, and no shorter`, async () => {
    const { timers, commands, keys, script } = setUp(problem(outcome, status, {}, '7'), receipt);
    const sending = send(commands, { random: () => 0 });
    await timers.advance(6_999);
    assert.equal(script.asked.length, 1);
    assert.equal((await ended(timers, sending)).outcome, 'Done');
    assert.deepEqual(keys(), ['id-1', 'id-1']);
  });
}

test('Retry-After may be a date, and many who wait do not come back at one moment', async () => {
  const { timers, commands } = setUp(problem('Busy', 429, {}, new Date(Date.now() + 5_000).toUTCString()), problem('Busy', 429, {}, '4'), receipt);
  const waits: number[] = [];
  await ended(timers, send(commands, { random: () => 1, onWait: (ms: number) => waits.push(ms) }));
  assert.ok(waits[0]! > 3_500 && waits[0]! <= 6_000);
  assert.equal(waits[1], 5_000);
});

for (const [outcome, status] of [['StaleBase', 409], ['Refused', 409], ['ValidationFailed', 409], ['AtCapacity', 409], ['EnoughReviewers', 409], ['SizeLimitExceeded', 409], ['CommandDigestMismatch', 409], ['StageCompleted', 409], ['Malformed', 400], ['NotFound', 404], ['BodyTooLarge', 413], ['StoreCorrupt', 503]] as const) {
  test(`${outcome} is not sent again, and its id is used up`, async () => {
    const { timers, commands, keys } = setUp(problem(outcome, status, { base: 'session' }), receipt);
    const result: Result<unknown> = await ended(timers, send(commands, { intent: 'a' }));
    assert.deepEqual([result.outcome, 'retryAfterMs' in result && result.retryAfterMs], [outcome, null]);
    assert.equal(commands.pending('a'), null);
    await send(commands, { intent: 'a' });
    assert.deepEqual(keys(), ['id-1', 'id-2']);
  });
}

test('a refused token is renewed once, and the same is sent with the new one', async () => {
  const { commands, tokens, script } = setUp(problem('Unauthenticated', 401), receipt);
  assert.equal((await send(commands)).outcome, 'Done');
  assert.deepEqual([tokens, script.asked[1]!.headers.get('authorization')], [[false, true], 'Bearer new']);
});

test('signed out, the command keeps its id only when an attempt before may have taken effect', async () => {
  const { commands } = setUp(problem('Unauthenticated', 401), problem('Unauthenticated', 401));
  assert.equal((await send(commands, { intent: 'a' })).outcome, 'Unauthenticated');
  assert.equal(commands.pending('a'), null);
  const second = setUp('lost', problem('Unauthenticated', 401), problem('Unauthenticated', 401), receipt);
  assert.equal((await ended(second.timers, send(second.commands, { intent: 'a' }))).outcome, 'Unauthenticated');
  assert.equal(second.commands.pending('a')?.commandId, 'id-1');
  assert.equal((await second.commands.resume('a'))?.outcome, 'Done');
  assert.deepEqual(new Set(second.keys()), new Set(['id-1']));
});

test('when patience ends the person is told, and the same intent goes on with the same id', async () => {
  const { timers, commands, keys, script } = setUp('lost', 'lost', 'lost', 'lost');
  const result = await ended(timers, send(commands, { intent: 'a', patienceMs: 2_000 }));
  assert.equal(result.outcome, 'Unanswered');
  script.then(receipt);
  assert.equal((await send(commands, { intent: 'a' })).outcome, 'Done');
  assert.deepEqual(new Set(keys()), new Set(['id-1']));
});

test('a wait longer than there is patience for is not begun', async () => {
  const { commands, script } = setUp(problem('Locked', 409, {}, '120'));
  const result = await send(commands, { intent: 'a' });
  assert.deepEqual([result.outcome, 'retryAfterMs' in result && result.retryAfterMs, script.isOver], ['Locked', 120_000, true]);
  assert.equal(commands.pending('a'), null, 'it did not take effect: the next try is a new one');
});

test('a signal ends it, in an attempt and in a wait', async () => {
  for (const line of ['hangs', problem('Busy', 429, {}, '9')] as const) {
    const { timers, commands } = setUp(line);
    const stop = new AbortController();
    const sending = send(commands, { intent: 'a', signal: stop.signal });
    await timers.advance(1_000);
    stop.abort();
    const result = await sending;
    assert.equal(result.outcome, line === 'hangs' ? 'Unanswered' : 'Busy');
    assert.equal(timers.pending, 0);
  }
});

test('after a reload the same intent goes on with the id and the bytes it had', async () => {
  const { timers, store, page, script, keys } = setUp('lost');
  await ended(timers, send(page(), { intent: 'a', patienceMs: 0 }));
  const reloaded = page(store);
  assert.deepEqual(reloaded.intents(), ['a']);
  script.then(receipt);
  assert.equal((await reloaded.resume('a'))?.outcome, 'Done');
  assert.deepEqual(keys(), ['id-1', 'id-1']);
  assert.equal(script.asked[0]!.body, script.asked[1]!.body);
  assert.equal(await reloaded.resume('a'), null, 'nothing is left to find out');
});

test('another body under an intent that is open: the one before is settled first, then it is a new command', async () => {
  const { timers, commands, script, keys } = setUp('lost');
  await ended(timers, send(commands, { intent: 'a', patienceMs: 0 }));
  script.then(receipt, receipt);
  const other = { ...request, body: { ...request.body, roles: [] } };
  assert.equal((await commands.send('post', members, other, { intent: 'a' })).outcome, 'Done');
  assert.deepEqual(keys(), ['id-1', 'id-1', 'id-2']);
  assert.equal(script.asked[2]!.body, JSON.stringify(other.body));
});

test('and while the one before cannot be settled, the new one is not sent', async () => {
  const { timers, commands, script, keys } = setUp('lost', 'lost');
  await ended(timers, send(commands, { intent: 'a', patienceMs: 0 }));
  const other = { ...request, body: { ...request.body, roles: [] } };
  const result = await ended(timers, commands.send('post', members, other, { intent: 'a', patienceMs: 0 }));
  assert.deepEqual([result.outcome, result.outcome === 'Unanswered' && result.commandId, keys().length, script.isOver], ['Unanswered', 'id-1', 2, true]);
});

test('a double click is one after the other', async () => {
  const { timers, commands, keys } = setUp('lost', receipt, receipt);
  const results = await ended(timers, Promise.all([send(commands, { intent: 'a' }), send(commands, { intent: 'a' })]));
  assert.deepEqual(results.map(result => result.outcome), ['Done', 'Done']);
  assert.deepEqual(keys(), ['id-1', 'id-1', 'id-2']);
});

test('a 409 from behind the ledger says that no attempt before took effect', async () => {
  const { timers, commands } = setUp('lost', problem('Locked', 409, {}, '120'));
  const result = await ended(timers, send(commands, { intent: 'a' }));
  assert.equal(result.outcome, 'Locked');
  assert.equal(commands.pending('a'), null);
  for (const [outcome, status] of [['Busy', 429], ['StoreUnavailable', 503], ['RetryableConflict', 409]] as const) {
    const unseen = setUp('lost', problem(outcome, status, {}, '120'));
    await ended(unseen.timers, send(unseen.commands, { intent: 'a' }));
    assert.equal(unseen.commands.pending('a')?.commandId, 'id-1', `${outcome}: nobody has looked`);
  }
});

test('what something in between answers is not the service\'s word', async () => {
  const page = { status: 200, text: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } };
  const gateway = { status: 502, text: 'bad gateway', headers: { 'content-type': 'text/plain', 'retry-after': '3' } };
  const { timers, commands, keys } = setUp(page, gateway, { status: 200, text: '{"commandId":', headers: { 'content-type': 'application/json' } }, receipt);
  assert.equal((await ended(timers, send(commands))).outcome, 'Done');
  assert.equal(new Set(keys()).size, 1);
  const blocked = setUp({ status: 403, text: 'blocked by policy', headers: { 'content-type': 'text/plain' } });
  const result = await send(blocked.commands);
  assert.deepEqual([result.outcome, result.outcome === 'Unexpected' && result.status], ['Unexpected', 403]);
});

test('storage without room does not stop a command, nor change its id', async () => {
  const full: TextStore = { ...memoryStore(), set: () => { throw new Error('no room'); } };
  const { timers, page, keys, script } = setUp('lost');
  const commands = page(full);
  assert.equal((await ended(timers, send(commands, { intent: 'a', patienceMs: 0 }))).outcome, 'Unanswered');
  script.then(receipt);
  assert.equal((await send(commands, { intent: 'a' })).outcome, 'Done');
  assert.deepEqual(keys(), ['id-1', 'id-1']);
});

test('what was kept by another layer, or cut short, is no command', () => {
  const { store, commands } = setUp();
  store.set('command:a', '{"commandId":');
  assert.equal(commands.pending('a'), null);
  assert.deepEqual(commands.intents(), []);
});
