// One browser as far as the client knows it: tabs with storage of their own, storage they share, locks, a channel.
import { Client, memoryStore, type Channel, type ClientOptions, type Draft, type DraftOptions, type Locks, type TextStore } from '#client';
import { Network } from './network.js';
import type { Service } from './model.js';
import type { FakeTimers } from './time.js';

type Listener = (event: { data: unknown }) => void;

/** A BroadcastChannel for the tabs of one browser. Messages arrive later, as there. */
export class Hub {
  readonly #ports = new Set<Set<Listener>>();
  isSilent = false;

  port(): Channel {
    const own = new Set<Listener>();
    this.#ports.add(own);
    return {
      postMessage: message => {
        const data = structuredClone(message);
        if (!this.isSilent) queueMicrotask(() => { for (const port of this.#ports) if (port !== own) for (const listener of [...port]) listener({ data }); });
      },
      addEventListener: (_, listener) => void own.add(listener),
      removeEventListener: (_, listener) => void own.delete(listener),
      close: () => void this.#ports.delete(own),
    };
  }
}

/** Web Locks: exclusive, first come first served. */
export class FakeLocks implements Locks {
  readonly #held = new Map<string, (() => void)[]>();

  request(name: string, { signal }: { signal?: AbortSignal }, run: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const start = () => void run().then(resolve, reject).finally(() => this.#next(name));
      const waiting = this.#held.get(name);
      if (waiting === undefined) {
        this.#held.set(name, []);
        return start();
      }
      waiting.push(start);
      signal?.addEventListener('abort', () => {
        const at = waiting.indexOf(start);
        if (at >= 0) waiting.splice(at, 1);
        reject(new DOMException('aborted', 'AbortError'));
      });
    });
  }

  async query(): Promise<{ held: { name: string }[] }> {
    return { held: [...this.#held.keys()].map(name => ({ name })) };
  }

  /** As when the page that holds it is gone. */
  drop(name: string): void {
    this.#next(name);
  }

  #next(name: string): void {
    const next = this.#held.get(name)?.shift();
    if (next === undefined) this.#held.delete(name);
    else next();
  }
}

export type Extra = Partial<ClientOptions>;

export class FakeTab {
  client!: Client;
  draft!: Draft;

  constructor(readonly browser: FakeBrowser, readonly network: Network, readonly own: TextStore, readonly extra: Extra) {}

  /** A page of this tab: its own client. */
  load(): void {
    this.client = new Client({
      baseUrl: 'https://review.test', token: () => 'token', person: 'ada', fetch: this.network.fetch, timers: this.browser.timers,
      own: this.own, local: this.browser.local, locks: this.browser.locks, channel: this.browser.hub.port(), random: () => 1, ...this.extra,
    });
  }

  /** Open the draft, letting time pass for what has to wait. */
  async open(options: Partial<DraftOptions> = {}): Promise<Draft> {
    this.load();
    const opening = this.client.openDraft({ project: 'p', study: 's', form: 'f', stage: 'a0000000-0000-4000-8000-000000000001', formVersion: 1, ...options });
    await this.browser.timers.advance(1000);
    const opened = await opening;
    if (opened.outcome !== 'Done') throw new Error(`not opened: ${opened.outcome}`);
    this.draft = opened.draft;
    return opened.draft;
  }

  /** The page ends without a word, as when the browser is killed. */
  async crash(): Promise<void> {
    const { id } = await this.client.tab;
    this.draft?.close();
    await this.client.close();
    this.browser.locks?.drop(`evidenced:tab:${id}`);
  }

  async reload(options: Partial<DraftOptions> = {}): Promise<Draft> {
    await this.crash();
    return this.open(options);
  }
}

export class FakeBrowser {
  readonly local = memoryStore();
  readonly locks: FakeLocks | null;
  readonly hub = new Hub();

  constructor(readonly service: Service, readonly timers: FakeTimers, hasLocks = true) {
    this.locks = hasLocks ? new FakeLocks() : null;
  }

  tab(extra: Extra = {}): FakeTab {
    return new FakeTab(this, new Network(this.service), memoryStore(), extra);
  }

  /** Duplicate a tab, as a browser does it: with a copy of its own storage. */
  duplicate(tab: FakeTab): FakeTab {
    const own = memoryStore();
    for (const name of tab.own.names()) own.set(name, tab.own.get(name)!);
    return new FakeTab(this, new Network(this.service), own, tab.extra);
  }
}
