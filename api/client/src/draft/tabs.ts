// Which tab is this? The id a draft is held by lives in the tab's own storage, so that a reload is the same tab. But a
// browser that duplicates a tab copies that storage too: the id must be claimed, and a tab that finds it taken makes one
// of its own.
import { randomUuid, storeOf, systemTimers, type TextStore, type Timers } from '../environment.js';

/** Of the browser's Web Locks, what is needed here. */
export interface Locks {
  request(name: string, options: { signal?: AbortSignal }, run: () => Promise<unknown>): Promise<unknown>;
  query(): Promise<{ held?: { name?: string }[] }>;
}

/** Of the browser's BroadcastChannel, what is needed here. */
export interface Channel {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  removeEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  close(): void;
}

export interface Tab {
  /** The holder id. */
  readonly id: string;
  /** Is it known that the tab of this id was closed? Null: it cannot be told. */
  isClosed(id: string): Promise<boolean | null>;
  /** Give the id up: the tab is being closed. */
  release(): void;
}

export type TabOptions = {
  /** The tab's own storage; sessionStorage unless given. */
  own?: TextStore;
  /** What all tabs of this browser see; localStorage unless given. */
  shared?: TextStore;
  locks?: Locks | null;
  channel?: Channel | null;
  timers?: Timers;
  uuid?: () => string;
};

const NAME = 'tab';
const LOCK_MS = 500; // a reload may find the lock of the page before it for a moment
const ANSWER_MS = 200; // how long the other tab has to say that the id is taken
const KNOWN_TABS = 100;

const lockName = (id: string) => `evidenced:tab:${id}`;

export function browserLocks(): Locks | null {
  const locks = (globalThis.navigator as { locks?: Locks } | undefined)?.locks;
  return locks ?? null;
}

/** Null outside of a browser: in Node an open channel keeps the process alive. */
export function browserChannel(name = 'evidenced'): Channel | null {
  return typeof document === 'undefined' || typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(name) as Channel;
}

/** Hold the lock of this id until told. Taken: another tab has it. Null: locks do not work here. */
async function hold(locks: Locks, id: string, timers: Timers): Promise<(() => void) | 'taken' | null> {
  const limit = new AbortController();
  let late = false;
  const give = timers.after(LOCK_MS, () => {
    late = true;
    limit.abort();
  });
  return new Promise(resolve => {
    locks.request(lockName(id), { signal: limit.signal }, () => new Promise<void>(release => {
      give();
      resolve(release);
    })).catch(() => {
      give();
      resolve(late ? 'taken' : null);
    });
  });
}

type Said = { kind?: string; id?: string; from?: string; to?: string };

/** Answers for one id on the channel: asks whether it is taken, and says so to whoever asks. */
class Claim {
  readonly #channel: Channel;
  readonly #me: string; // of this page, not of the tab
  #id = '';
  #owned = false;
  #taken: (() => void) | null = null;
  readonly #hear = (event: { data: unknown }) => this.#heard(event.data as Said);

  constructor(channel: Channel, me: string) {
    this.#channel = channel;
    this.#me = me;
    channel.addEventListener('message', this.#hear);
  }

  /** False when another tab answers to this id. */
  async ask(id: string, timers: Timers): Promise<boolean> {
    this.#id = id;
    const taken = await new Promise<boolean>(resolve => {
      const give = timers.after(ANSWER_MS, () => resolve(false));
      this.#taken = () => {
        give();
        resolve(true);
      };
      this.#channel.postMessage({ kind: 'tabClaim', id, from: this.#me });
    });
    this.#taken = null;
    this.#owned = !taken;
    return this.#owned;
  }

  quit(): void {
    this.#channel.removeEventListener('message', this.#hear);
  }

  #heard(said: Said): void {
    if (said.id !== this.#id) return;
    if (said.kind === 'tabTaken' && said.to === this.#me) this.#taken?.();
    // Of two that ask at once, one must yield.
    const mine = this.#owned || (said.from !== undefined && this.#me < said.from);
    if (said.kind !== 'tabClaim' || said.from === this.#me || !mine) return;
    this.#channel.postMessage({ kind: 'tabTaken', id: this.#id, to: said.from });
  }
}

/** Remember that this id is of this browser, and forget the oldest. */
function register(shared: TextStore, id: string, timers: Timers): void {
  try {
    shared.set(`${NAME}:${id}`, String(timers.wall()));
    const known = shared.names().filter(name => name.startsWith(`${NAME}:`));
    if (known.length <= KNOWN_TABS) return;
    known.sort((a, b) => Number(shared.get(a)) - Number(shared.get(b)));
    for (const name of known.slice(0, known.length - KNOWN_TABS)) shared.remove(name);
  } catch {
    // no room: the tab is not recognised once it is closed, and its lease has to lapse
  }
}

function keepId(own: TextStore, id: string): void {
  try {
    own.set(NAME, id);
  } catch {
    // no room: after a reload this is another tab
  }
}

/** This tab, with an id nobody else has. */
export async function claimTab(options: TabOptions = {}): Promise<Tab> {
  const own = options.own ?? storeOf('sessionStorage'), shared = options.shared ?? storeOf('localStorage');
  const locks = options.locks === undefined ? browserLocks() : options.locks;
  const channel = options.channel === undefined ? browserChannel() : options.channel;
  const timers = options.timers ?? systemTimers, uuid = options.uuid ?? randomUuid;
  const claim = locks === null && channel !== null ? new Claim(channel, uuid()) : null;
  for (let id = own.get(NAME) ?? uuid(); ; id = uuid()) {
    const unlock = locks === null ? null : await hold(locks, id, timers);
    if (unlock === 'taken' || (claim !== null && !await claim.ask(id, timers))) continue;
    keepId(own, id);
    register(shared, id, timers);
    return {
      id,
      isClosed: other => isClosed(other, unlock === null ? null : locks, shared),
      release() {
        unlock?.();
        claim?.quit();
        if (options.channel === undefined) channel?.close();
      },
    };
  }
}

async function isClosed(id: string, locks: Locks | null, shared: TextStore): Promise<boolean | null> {
  if (locks === null || shared.get(`${NAME}:${id}`) === null) return null;
  const { held = [] } = await locks.query();
  return !held.some(lock => lock.name === lockName(id));
}
