// One reviewer's draft of one session in one tab: types, is interrupted, comes back, saves.
//
// Everything that talks to the service runs in turns, one after another; typing never waits. What is typed is kept in
// this browser before anything is sent, and until the service has it.
import type { Patience } from '../attempts.js';
import type { Commands } from '../commands.js';
import type { TextStore, Timers } from '../environment.js';
import type { Wire } from '../wire.js';
import { Alarm } from './alarm.js';
import type { Place } from './content.js';
import { Copies } from './copies.js';
import { baseFrom, Desk, storedFrom, type Shown } from './desk.js';
import { Hints } from './hints.js';
import { LocalText } from './local.js';
import type { ReadFailure, SaveProblem, SaveResult, StepResult } from './outcomes.js';
import { restore } from './restore.js';
import { DraftServer, type Both, type SessionPath } from './server.js';
import type { AnswerValue, FixRequest, SaveRequest, SessionReceipt, StaleAnswer } from './shapes.js';
import { isSameState, type DraftState, type DraftStatus } from './state.js';
import { Submitter, type SubmitMore, type SubmitName, type SubmitOptions } from './submit.js';
import type { Channel, Tab } from './tabs.js';
import { Writer } from './writer.js';

/** What all drafts of a client share. */
export type DraftContext = {
  wire: Wire;
  commands: Commands;
  tab: Tab;
  local: TextStore;
  channel: Channel | null;
  timers: Timers;
  random: () => number;
  /** Whose work it is: goes into the names of what this browser keeps. */
  person: string;
};

export type DraftOptions = SessionPath & {
  /** The stage the reviewer came by. */
  stage: string;
  /** The published form version that is shown. */
  formVersion: number;
  /** Quiet after the last key before it is sent; 800 ms. */
  debounceMs?: number;
  /** The longest that typing on can put it off; 5 s. */
  longestMs?: number;
  /** Between heartbeats; a third of the lease, 30 s. */
  heartbeatMs?: number;
  /** How often a tab that may only read looks again; 15 s. */
  pollMs?: number;
  /** How long the other tab has to write what it has, before it is taken over; 1 s. */
  handOverMs?: number;
};

export type Opened = { outcome: 'Done'; draft: Draft } | ReadFailure;

const DEFAULTS = { debounceMs: 800, longestMs: 5_000, heartbeatMs: 30_000, pollMs: 15_000, handOverMs: 1_000 };
const TAKE_OVER_TRIES = 3;

export class Draft {
  /** Conflict copies: what was typed and found no place. */
  readonly copies: Copies;
  readonly #context: DraftContext;
  readonly #options: DraftOptions & typeof DEFAULTS;
  readonly #server: DraftServer;
  readonly #desk: Desk;
  readonly #writer: Writer;
  readonly #submitter: Submitter;
  readonly #hints: Hints;
  readonly #ends = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #autosave: Alarm;
  readonly #heartbeat: Alarm;
  readonly #poll: Alarm;
  #turns: Promise<unknown> = Promise.resolve();
  #state: DraftState;
  #dirtySince: number | null = null;
  #notBefore = 0;
  #lookIn: number | null = null; // looking failed: again after so long

  private constructor(context: DraftContext, options: DraftOptions, server: DraftServer, local: LocalText, both: Both) {
    this.#context = context;
    this.#options = { ...DEFAULTS, ...options };
    this.#server = server;
    const { timers, random, tab, commands } = context;
    const ends = this.#ends.signal, onChange = () => this.#update(), onDone = () => this.#hints.changed();
    const shared = { server, holder: tab.id, stage: options.stage, timers, random, ends, onChange };
    const desk = new Desk(tab.id, options.formVersion, baseFrom(both.session), storedFrom(both.draft));
    this.#desk = desk;
    this.#hints = new Hints(context.channel, `${context.person} ${server.base}`, tab.id);
    this.#writer = new Writer({ ...shared, desk, local, onHold: onDone });
    this.#submitter = new Submitter({ ...shared, desk, writer: this.#writer, commands, onDone });
    this.copies = new Copies({
      ...shared, desk, writer: this.#writer, local, turn: run => this.#step(run), onTyped: () => this.#typed(), onDone,
    });
    this.#autosave = new Alarm(timers, () => void this.#turn(() => this.#write()));
    this.#heartbeat = new Alarm(timers, () => void this.#turn(() => this.#beat()));
    this.#poll = new Alarm(timers, () => void this.#turn(() => this.#look()));
    this.#hints.listen(() => void this.#turn(() => this.#look()), () => this.flush());
    this.#state = this.#snapshot();
  }

  /** Read session and draft, and go on from what an earlier page of this tab, or a closed one, left. */
  static async open(context: DraftContext, options: DraftOptions, patience: Patience = {}): Promise<Opened> {
    const server = new DraftServer(context.wire, context.commands, context.random, options);
    const local = new LocalText(context.local, `${context.person} ${server.base}`);
    const pending = context.commands.pending(server.intent);
    const resumed = await context.commands.resume<SessionReceipt, SaveProblem>(server.intent, { random: context.random, ...patience });
    if (resumed !== null && resumed.outcome !== 'Done' && context.commands.pending(server.intent) !== null) return resumed;
    const both = await server.read(patience);
    if (both.outcome !== 'Done') return both;
    const draft = new Draft(context, options, server, local, both.value);
    draft.#submitter.late = resumed;
    const landed = resumed?.outcome !== 'Done' ? null
      : { from: (JSON.parse(pending?.body ?? '{}') as Partial<SaveRequest>).baseVersion ?? null, to: resumed.receipt.versionId };
    await restore({ desk: draft.#desk, writer: draft.#writer, server, local, tab: context.tab, timers: context.timers, landed });
    draft.#after();
    return { outcome: 'Done', draft };
  }

  /* What the person sees. */

  /** The same object until something changes. */
  get state(): DraftState {
    return this.#state;
  }

  /** Called after every change of `state`; the answer ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What stands at a place, typed or saved; null when nothing does. */
  shown(place: Place): Shown | null {
    return this.#desk.shown(place);
  }

  allShown(): Shown[] {
    return this.#desk.allShown();
  }

  /** What a Save ended in whose answer came when nobody waited for it any more, after a reload say. */
  get lateResult(): Submitter['late'] {
    return this.#submitter.late;
  }

  /* What the person does. */

  answer(place: Place, value: AnswerValue, notes?: string | null): void {
    this.#desk.answer(place, value, notes);
    this.#typed();
  }

  /** Take an answer back. */
  withdraw(place: Place): void {
    this.#desk.withdraw(place);
    this.#typed();
  }

  /** Forget what is typed at a place: the version's answer stands again. */
  revert(place: Place): void {
    this.#desk.revert(place);
    this.#typed();
  }

  /** After StaleBase of `answers`: the person has seen both values of one answer and chosen. Then save again. */
  settle(stale: StaleAnswer, choice: 'mine' | 'theirs'): void {
    if (choice === 'theirs' && stale.current === null) this.#desk.revert(stale);
    if (choice === 'theirs' && stale.current !== null) this.#desk.answer(stale, stale.current.value);
    this.#desk.rebase(stale, stale.current?.revision ?? null);
    this.#typed();
  }

  /** Send what is typed now. Ends when the service has it, or it cannot be brought there for the moment. */
  flush(): Promise<void> {
    return this.#turn(() => this.#write());
  }

  save(options: SubmitOptions = {}): Promise<SaveResult> {
    return this.#submit('save', options);
  }

  complete(options: SubmitOptions = {}): Promise<SaveResult> {
    return this.#submit('complete', options);
  }

  /**
   * Take over answers that another form of this person changed since, those named and no others. What is typed stays
   * typed.
   */
  fix(answers: FixRequest['answers'], options: SubmitOptions = {}): Promise<SaveResult> {
    return this.#beside('fix', options, { fixed: answers });
  }

  /** Go to this published version of the form, with the same answers. What is typed stays typed. */
  upgrade(formVersion: number, options: SubmitOptions = {}): Promise<SaveResult> {
    return this.#beside('upgrade', options, { formVersion });
  }

  /** Withdraw the session: its place becomes free. What is typed is kept as a copy. */
  withdrawSession(options: SubmitOptions = {}): Promise<SaveResult> {
    return this.#submit('withdraw', options);
  }

  /** Hold the draft in this tab, whoever holds it. The other one becomes read only, and what it types then is kept. */
  takeOver(patience: Patience = {}): Promise<StepResult> {
    return this.#step(async () => {
      const holder = this.#desk.stored?.holder ?? null;
      if (holder !== null && !this.#desk.isHolder && await this.#context.tab.isClosed(holder) !== true) {
        await this.#hints.ask(holder, this.#context.timers, this.#options.handOverMs);
      }
      const taken = await this.#take(patience);
      if (taken.outcome !== 'Done') return taken;
      this.#hints.changed();
      return this.#startAnew(patience, 'takenOver');
    });
  }

  /** Load what the service has. What is typed here and nowhere else becomes a copy in this browser. */
  reload(patience: Patience = {}): Promise<StepResult> {
    return this.#step(() => this.#startAnew(patience, 'stale'));
  }

  /** After `refused`, or to look at once: read, and go on. */
  retry(): Promise<void> {
    return this.#turn(async () => {
      await this.#look();
      if (this.#writer.block === null) await this.#write();
    });
  }

  /** The network is back, or the page is shown again: do not wait any longer. */
  wake(): void {
    this.#notBefore = 0;
    void this.#turn(() => this.#look());
  }

  /** Throw away all that is typed and in no version. The service notes that it was done. */
  discard(patience: Patience = {}): Promise<StepResult> {
    return this.#step(async () => {
      const both = await this.#server.read(patience);
      if (both.outcome !== 'Done') return both;
      const { draft } = both.value;
      if (draft !== null && draft.content !== null) {
        const result = await this.#server.discard(this.#context.tab.id, draft.etag, patience);
        if (result.outcome !== 'Done') this.#writer.doubt();
        if (result.outcome !== 'Done') return result;
      }
      this.#desk.forget();
      this.#hints.changed();
      return this.#startAnew(patience, 'discarded');
    });
  }

  /** End: no timers, no listening, the lease lapses. What was not sent is kept for the next `open`. */
  close(): void {
    this.#ends.abort();
    this.#autosave.clear();
    this.#heartbeat.clear();
    this.#poll.clear();
    this.#hints.close();
    this.#update();
    this.#listeners.clear();
  }

  /* Turns. */

  #turn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turns.then(run);
    const after = () => this.#after();
    this.#turns = turn.then(after, after);
    return turn;
  }

  /** A turn of a draft that is still open. */
  #step(run: () => Promise<StepResult>): Promise<StepResult> {
    return this.#turn(async () => this.#ends.signal.aborted ? { outcome: 'Blocked', status: 'closed', problem: null } : run());
  }

  /** After each turn: what is to happen next, and when. */
  #after(): void {
    if (this.#ends.signal.aborted) return;
    const { block } = this.#writer;
    if (!this.#desk.isDirty) this.#dirtySince = null;
    if (block?.kind === 'readOnly' || this.#lookIn !== null) this.#poll.set(this.#lookIn ?? this.#options.pollMs);
    else this.#poll.clear();
    if (block === null && this.#desk.isHolder) this.#heartbeat.setOnce(this.#options.heartbeatMs);
    else this.#heartbeat.clear();
    this.#schedule();
    this.#update();
  }

  #typed(): void {
    if (this.#ends.signal.aborted) throw new Error('this draft was closed');
    this.#writer.persist();
    this.#schedule();
    this.#update();
  }

  /** Send soon: after a pause in typing, but not put off for ever, and not before the service said to come again. */
  #schedule(): void {
    const now = this.#context.timers.now();
    const isAsked = this.#submitter.isUnsettled || (this.#desk.isDirty && this.#writer.block === null);
    if (!isAsked) return this.#autosave.clear();
    this.#dirtySince ??= now;
    const soon = Math.min(this.#options.debounceMs, this.#dirtySince + this.#options.longestMs - now);
    this.#autosave.set(Math.max(0, soon, this.#notBefore - now));
  }

  async #write(): Promise<void> {
    if (this.#ends.signal.aborted) return;
    if (this.#submitter.isUnsettled && !await this.#submitter.findOut()) return this.#wait(this.#submitter.waitMs);
    this.#dirtySince = null;
    if (await this.#writer.push() === 'later') this.#wait(this.#writer.waitMs);
  }

  #wait(ms: number): void {
    this.#notBefore = this.#context.timers.now() + ms;
  }

  async #beat(): Promise<void> {
    if (!this.#submitter.isUnsettled && await this.#writer.beat() === 'later') this.#heartbeat.set(this.#writer.waitMs);
  }

  /** Something may have happened elsewhere. */
  async #look(): Promise<void> {
    if (this.#submitter.isUnsettled || (this.#desk.isDirty && this.#writer.block === null)) return this.#write();
    this.#lookIn = await this.#writer.refresh() === 'later' ? this.#writer.waitMs : null;
  }

  #submit(name: SubmitName, options: SubmitOptions, more?: SubmitMore): Promise<SaveResult> {
    return this.#turn(() => this.#submitter.submit(name, options, more));
  }

  /** A version made beside what is typed: the service made a copy of that, and it becomes the draft again. */
  async #beside(name: SubmitName, options: SubmitOptions, more: SubmitMore): Promise<SaveResult> {
    const before = this.#desk.base.versionId, isTyped = this.#desk.typed.size > 0;
    const result = await this.#submit(name, options, more);
    if (result.outcome !== 'Done' || !isTyped) return result;
    const listed = await this.copies.list(options);
    const copy = listed.outcome !== 'Done' ? undefined
      : listed.value.reverse().find(one => one.reason === 'leftOut' && one.baseVersion === before);
    if (copy !== undefined) await this.copies.adopt(copy, options);
    return result;
  }

  /** By the generation seen: somebody who took over meanwhile is seen first. */
  async #take(patience: Patience): Promise<StepResult> {
    for (let tried = 1; ; tried++) {
      const both = await this.#server.read(patience);
      if (both.outcome !== 'Done') return both;
      if (both.value.draft === null) return { outcome: 'Done' };
      const result = await this.#server.takeOver(this.#context.tab.id, both.value.draft.leaseGeneration, patience);
      if (result.outcome === 'Done' || result.outcome !== 'StaleBase' || tried === TAKE_OVER_TRIES) return result;
    }
  }

  async #startAnew(patience: Patience, reason: string): Promise<StepResult> {
    const both = await this.#server.read({ signal: this.#ends.signal, ...patience });
    if (both.outcome !== 'Done') return both;
    if (this.#writer.isGone(both.value)) return { outcome: 'Blocked', status: 'refused', problem: both.value.missing };
    return this.#writer.startAnew(both.value, reason) ? { outcome: 'Done' } : { outcome: 'NoRoom' };
  }

  /* State. */

  #status(): DraftStatus {
    const { block, isChecking, isOffline, isWriting } = this.#writer;
    if (this.#ends.signal.aborted) return 'closed';
    if (this.#submitter.isUnsettled || this.#submitter.isChecking || isChecking) return 'checking';
    if (block !== null) return block.kind;
    if (isOffline) return 'offline';
    if (this.#submitter.isBusy || isWriting) return 'saving';
    if (this.#desk.isDirty) return 'dirty';
    return this.#desk.typed.size > 0 ? 'saved' : 'idle';
  }

  #snapshot(): DraftState {
    const { block, isKeptHere } = this.#writer;
    const status = this.#status();
    return {
      status,
      canEdit: block === null && status !== 'closed',
      heldBy: block?.kind === 'readOnly' ? { holder: block.holder, until: block.until } : null,
      problem: block?.problem ?? null,
      changed: this.#desk.typed.size,
      unsent: this.#desk.dirtyKeys.size,
      isKeptHere,
      versionId: this.#desk.base.versionId,
      sessionState: this.#desk.base.state,
    };
  }

  #update(): void {
    const state = this.#snapshot();
    if (isSameState(state, this.#state)) return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
  }
}
