// One person's client: how it reaches the service, and what it shares between its parts.
import type { Patience } from './attempts.js';
import { Commands } from './commands.js';
import { Draft, type DraftOptions, type Opened } from './draft/draft.js';
import { browserChannel, claimTab, type Channel, type Locks, type Tab } from './draft/tabs.js';
import { randomUuid, storeOf, type TextStore } from './environment.js';
import { Exports } from './exports.js';
import { Operations } from './operations.js';
import { Reads } from './reads.js';
import { Wire, type WireOptions } from './wire.js';

export type ClientOptions = WireOptions & {
  /** Whose work it is, as the token says: what this browser keeps is shown to nobody else. */
  person: string;
  /** The tab's own storage, for its id and for commands whose fate is not known; sessionStorage. */
  own?: TextStore;
  /** What outlives the tab, for what is typed and not yet sent; localStorage. */
  local?: TextStore;
  /** How the browser's tabs hear of each other. Null: not at all; then only the service tells. */
  channel?: Channel | null;
  locks?: Locks | null;
  random?: () => number;
  uuid?: () => string;
};

export class Client {
  readonly wire: Wire;
  readonly commands: Commands;
  readonly reads: Reads;
  readonly operations: Operations;
  readonly exports: Exports;
  readonly #options: ClientOptions;
  readonly #own: TextStore;
  readonly #local: TextStore;
  readonly #channel: Channel | null;
  #tab: Promise<Tab> | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#own = options.own ?? storeOf('sessionStorage');
    this.#local = options.local ?? storeOf('localStorage');
    this.#channel = options.channel === undefined ? browserChannel() : options.channel;
    this.wire = new Wire(options);
    this.commands = new Commands(this.wire, within(this.#own, `${options.person} `), options.uuid ?? randomUuid);
    this.reads = new Reads(this.wire);
    this.operations = new Operations(this.wire, this.commands);
    this.exports = new Exports(this.wire);
  }

  /** This tab, with an id that no other tab has. */
  get tab(): Promise<Tab> {
    this.#tab ??= claimTab({
      own: this.#own, shared: this.#local, channel: this.#channel, timers: this.wire.timers,
      ...(this.#options.locks === undefined ? {} : { locks: this.#options.locks }),
      ...(this.#options.uuid === undefined ? {} : { uuid: this.#options.uuid }),
    });
    return this.#tab;
  }

  /** Open one's own session on a study's form for typing. */
  async openDraft(options: DraftOptions, patience: Patience = {}): Promise<Opened> {
    const { person, random = Math.random } = this.#options;
    return Draft.open({
      wire: this.wire, commands: this.commands, tab: await this.tab, local: this.#local, channel: this.#channel,
      timers: this.wire.timers, random, person,
    }, options, patience);
  }

  /** Give up the tab's id. Drafts are closed by themselves. */
  async close(): Promise<void> {
    if (this.#tab !== null) (await this.#tab).release();
    if (this.#options.channel === undefined) this.#channel?.close();
  }
}

/** The store, seen through a prefix. */
function within(store: TextStore, prefix: string): TextStore {
  return {
    get: name => store.get(prefix + name),
    set: (name, text) => store.set(prefix + name, text),
    remove: name => store.remove(prefix + name),
    names: () => store.names().filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length)),
  };
}
