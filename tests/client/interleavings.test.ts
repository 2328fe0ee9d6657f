// Three tabs on two computers do anything at any time, over a network that loses requests and answers; pages crash and
// come back. Whatever is typed must be somewhere: in a version, in the draft, in a copy, in a page or its browser — unless
// somebody who saw it typed over it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from '#client';
import { FakeBrowser, type FakeTab } from './support/browser.js';
import { Service } from './support/model.js';
import { FakeTimers, settle } from './support/time.js';

const SCHEDULES = Number(process.env['EVIDENCED_SCHEDULES'] ?? 300);
const STEPS = 60;
const places = ['a', 'b', 'c'].map(question => ({ question }));

/** mulberry32: small, and the same everywhere. */
function chance(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const hex = (random: () => number, digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
const uuidOf = (random: () => number) => `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`;

class World {
  readonly timers = new FakeTimers();
  readonly service = new Service(this.timers);
  readonly browsers: FakeBrowser[];
  readonly tabs: FakeTab[];
  /** Typed, and not typed over by somebody who saw it: by its place. */
  readonly owed = new Map<string, string>();
  readonly told: string[] = [];
  saved = 0;
  #typed = 0;
  readonly #under: Promise<unknown>[] = [];

  constructor(readonly random: () => number, isForgetful = false) {
    this.browsers = [new FakeBrowser(this.service, this.timers), new FakeBrowser(this.service, this.timers, random() < 0.5)];
    const own = { random, uuid: () => uuidOf(random) };
    this.tabs = [this.browsers[0]!.tab(own), this.browsers[0]!.tab(own), this.browsers[1]!.tab(own)];
    for (const tab of this.tabs) tab.network.fault = () => this.#loss();
    // A deliberate fault: browsers that forget the copies they are given.
    for (const { local } of isForgetful ? this.browsers : []) {
      const { set } = local;
      local.set = (name, text) => name.startsWith('copy:') ? undefined : set(name, text);
    }
  }

  #loss(): 'lost' | 'unanswered' | undefined {
    const x = this.random();
    return x < 0.07 ? 'lost' : x < 0.17 ? 'unanswered' : undefined;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  /** Do not wait for it: time has to go on for it to end. */
  begin<T>(what: Promise<T>, then: (result: T) => void = () => undefined): void {
    this.#under.push(what.then(then));
  }

  async open(tab: FakeTab): Promise<void> {
    tab.load();
    const opening = tab.client.openDraft({ project: 'p', study: 's', form: 'f', stage: 'a0000000-0000-4000-8000-000000000001', formVersion: 1, debounceMs: 300 }, { patienceMs: 1e9, random: this.random });
    let opened: Awaited<typeof opening> | undefined;
    void opening.then(result => { opened = result; });
    for (let i = 0; opened === undefined && i < 500; i++) await this.timers.advance(1_000);
    assert.equal(opened?.outcome, 'Done', 'it opens in the end');
    if (opened?.outcome === 'Done') tab.draft = opened.draft;
  }

  /** The person sees what stands at a place, and types over it or takes it back. */
  type(draft: Draft): void {
    const place = this.pick(places);
    const seen = draft.shown(place)?.value;
    if (seen !== undefined) this.owed.delete(String(seen));
    if (this.random() < 0.15) return draft.withdraw(place);
    const value = `typed-${++this.#typed}.`;
    draft.answer(place, value);
    this.owed.set(value, place.question);
  }

  async step(): Promise<void> {
    const tab = this.pick(this.tabs), { draft } = tab, x = this.random();
    const name = `${this.tabs.indexOf(tab)} ${x.toFixed(2)} ${draft.state.status}`;
    this.told.push(name);
    if (x < 0.4) this.type(draft);
    else if (x < 0.6) await this.timers.advance(this.pick([0, 100, 400, 2_000, 20_000, 100_000]));
    else if (x < 0.68) this.begin(this.random() < 0.7 ? draft.save() : draft.complete(), result => { if (result.outcome === 'Done' && !result.replayed) this.saved++; });
    else if (x < 0.76) this.begin(draft.takeOver());
    else if (x < 0.82) this.begin(draft.reload());
    else if (x < 0.86) tab.network.isDown = !tab.network.isDown;
    else if (x < 0.9) await this.#crash(tab);
    else if (x < 0.94) this.begin(this.#adopt(draft));
    else if (x < 0.96 && this.service.draft !== null) this.service.release();
    else if (x < 0.98) draft.wake();
    else this.begin(draft.flush());
    await settle();
  }

  async #crash(tab: FakeTab): Promise<void> {
    await tab.crash();
    tab.network.isDown = false;
    await this.open(tab);
  }

  async #adopt(draft: Draft): Promise<void> {
    const listed = await draft.copies.list({ patienceMs: 10_000, random: this.random });
    if (listed.outcome !== 'Done' || listed.value.length === 0) return;
    await draft.copies.adopt(this.pick(listed.value), { patienceMs: 10_000, random: this.random });
  }

  /** Everywhere a person could find it. */
  found(): string {
    const { history, draft, kept } = this.service;
    const here = this.browsers.flatMap(browser => browser.local.names().map(name => browser.local.get(name)));
    const pages = this.tabs.map(tab => tab.draft.allShown().map(shown => shown.value));
    const waiting = this.tabs.flatMap(tab => tab.own.names().map(name => tab.own.get(name)));
    return JSON.stringify([history, [...draft?.content ?? []], kept.map(copy => [...copy.content]), here, pages, waiting]);
  }

  check(): void {
    const found = this.found();
    for (const [value] of this.owed) assert.ok(found.includes(value), `${value} is lost`);
  }

  /** The network holds, two pages are closed, the third is left. */
  async end(): Promise<void> {
    for (const tab of this.tabs) {
      tab.network.fault = () => undefined;
      tab.network.isDown = false;
    }
    await this.timers.advance(400_000);
    await Promise.all(this.#under);
    const [last, ...others] = this.tabs;
    for (const tab of others) await tab.crash();
    await this.timers.advance(200_000);
    const { draft } = last!;
    const reloading = draft.reload();
    await this.timers.advance(1_000);
    assert.equal((await reloading).outcome, 'Done');
    assert.ok(draft.state.canEdit, draft.state.status);
    for (const place of places) {
      const seen = draft.shown(place)?.value;
      if (seen !== undefined) this.owed.delete(String(seen));
      draft.answer(place, `last-${place.question}`);
    }
    for (let tried = 0; ; tried++) {
      const saving = draft.save();
      await this.timers.advance(5_000);
      const result = await saving;
      if (result.outcome === 'Done') break;
      assert.ok(tried < 3 && result.outcome === 'StaleBase' && result.base === 'answers', JSON.stringify(result));
      for (const answer of result.answers!) draft.settle(answer, 'mine');
    }
    assert.deepEqual([...this.service.answers.values()].map(answer => answer.value).sort(), ['last-a', 'last-b', 'last-c']);
    assert.deepEqual([draft.state.status, this.service.draft!.content], ['idle', null]);
  }
}

/** Throws what is wrong, with the seed that shows it. */
async function live(seed: number, isForgetful = false): Promise<void> {
  const world = new World(chance(seed), isForgetful);
  try {
    for (const tab of world.tabs) await world.open(tab);
    for (let i = 0; i < STEPS; i++) {
      await world.step();
      world.check();
    }
    await world.end();
    world.check();
  } catch (error) {
    throw new Error(`EVIDENCED_SEED=${seed} after ${world.told.length} steps (${world.told.slice(-6).join('; ')}): ${(error as Error).message}`, { cause: error });
  }
}

test(`in ${SCHEDULES} random days of three tabs nothing typed is lost, and the last one can always save`, async () => {
  const first = Number(process.env['EVIDENCED_SEED'] ?? 1);
  for (let seed = first; seed < first + SCHEDULES; seed++) await live(seed);
});

test('a browser that forgets copies would be found out', async () => {
  await assert.rejects(async () => {
    for (let seed = 1; seed <= 200; seed++) await live(seed, true);
  }, /is lost/);
});
