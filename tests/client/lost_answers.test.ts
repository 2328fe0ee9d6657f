// A working day in which one request after another meets a fault: at every call, of every kind. The day must end the
// same: each command once, nothing typed lost, nothing overwritten.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft, SaveResult } from '#client';
import { FakeBrowser, type FakeTab } from './support/browser.js';
import { Service } from './support/model.js';
import type { Fault } from './support/network.js';
import { FakeTimers } from './support/time.js';

const dose = { question: 'dose' }, blinding = { question: 'blinding' }, remarks = { question: 'remarks' };

function problem(outcome: string, status: number, tookEffect: boolean): Fault {
  return {
    tookEffect, status, headers: { 'content-type': 'application/problem+json', 'retry-after': '2' },
    body: { type: `urn:evidenced:problem:${outcome}`, title: outcome, status, detail: outcome, outcome, retryable: true },
  };
}

const html = (status: number): Fault => ({ status, text: '<html>Sign in to the network</html>', headers: { 'content-type': 'text/html' } });

const faults: Record<string, Fault> = {
  'a request that is lost': 'lost',
  'an answer that is lost': 'unanswered',
  'OutcomeUnknown of what took effect': problem('OutcomeUnknown', 409, true),
  'OutcomeUnknown of what did not': problem('OutcomeUnknown', 409, false),
  'RetryableConflict': problem('RetryableConflict', 409, false),
  'Busy': problem('Busy', 429, false),
  'StoreUnavailable': problem('StoreUnavailable', 503, false),
  'a gateway\'s 502': html(502),
  'a hotel\'s page in place of the answer': html(200),
  'an answer cut off': { status: 200, text: '{"etag":', tookEffect: true },
};

/** Wait for what is under way, while time goes on. */
async function ended<T>(timers: FakeTimers, what: Promise<T>): Promise<T> {
  let over = false;
  void what.finally(() => { over = true; }).catch(() => undefined);
  for (let i = 0; i < 100 && !over; i++) await timers.advance(1000);
  assert.ok(over, 'it ended');
  return what;
}

async function open(timers: FakeTimers, tab: FakeTab): Promise<Draft> {
  tab.load();
  const opened = await ended(timers, tab.client.openDraft({ project: 'p', study: 's', form: 'f', stage: 'a0000000-0000-4000-8000-000000000001', formVersion: 1 }));
  assert.equal(opened.outcome, 'Done');
  if (opened.outcome !== 'Done') throw new Error();
  return tab.draft = opened.draft;
}

async function day(timers: FakeTimers, browser: FakeBrowser, tab: FakeTab): Promise<void> {
  const isDone = (result: SaveResult) => assert.equal(result.outcome, 'Done');
  let draft = await open(timers, tab);
  draft.answer(dose, '1');
  await timers.advance(2000);
  draft.answer(blinding, 'single');
  await timers.advance(40_000);
  draft.answer(dose, '2');
  isDone(await ended(timers, draft.save()));
  draft.answer(remarks, 'a');
  await timers.advance(2000);
  await tab.crash();
  draft = await open(timers, tab);
  draft.withdraw(blinding);
  await timers.advance(900);
  draft.answer(remarks, 'ab');
  isDone(await ended(timers, draft.complete()));
  draft.answer(dose, '3');
  await timers.advance(20_000);
  const other = browser.tab();
  other.network.fault = tab.network.fault;
  const next = await open(timers, other);
  assert.equal((await ended(timers, next.takeOver())).outcome, 'Done');
  next.answer(remarks, 'abc');
  isDone(await ended(timers, next.save()));
  next.answer(remarks, 'typed and thrown away');
  await timers.advance(30_000);
  assert.equal((await ended(timers, next.discard())).outcome, 'Done');
  other.network.fault = () => undefined; // the heartbeat that comes next finds the service
  await timers.advance(60_000);
  assert.deepEqual([next.state.status, next.state.unsent], ['idle', 0]);
}

const endOf = (service: Service, browser: FakeBrowser) => ({
  answers: [...service.answers.values()].map(answer => [answer.question, answer.value]).sort(),
  done: service.done, content: service.draft!.content, kept: service.kept.map(copy => [copy.reason, [...copy.content.keys()]]),
  here: browser.local.names().filter(name => /^(typed|copy):/.test(name)),
});

async function run(fault?: { at: number; what: Fault; length: number }) {
  const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers), tab = browser.tab();
  let calls = 0;
  tab.network.fault = () => {
    const at = calls++;
    return fault !== undefined && at >= fault.at && at < fault.at + fault.length ? fault.what : undefined;
  };
  await day(timers, browser, tab);
  return { calls, end: endOf(service, browser) };
}

for (const length of [1, 3]) {
  for (const [name, what] of Object.entries(faults)) {
    test(`${name}, ${length === 1 ? 'once' : 'three times running'}, at any call of the day: the day ends the same`, async () => {
      const { calls, end } = await run();
      assert.deepEqual(end.answers, [['dose', '3'], ['remarks', 'abc']]);
      assert.deepEqual(end.done, ['POST /save', 'POST /complete', 'POST /draft/takeover', 'POST /save', 'DELETE /draft']);
      assert.deepEqual([end.content, end.kept, end.here], [null, [], []]);
      assert.ok(calls > 20);
      for (let at = 0; at < calls; at++) {
        try {
          assert.deepEqual((await run({ at, what, length })).end, end);
        } catch (error) {
          throw new Error(`at call ${at} of ${calls}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }
}
