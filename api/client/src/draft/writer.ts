// Brings what is typed to the service: one write at a time, the same bytes until they are answered, and after every
// refusal what the service really has. Nothing typed is dropped here: what a refusal did not keep stays in this browser.
//
// Its methods are called one after another, never side by side; whoever calls sees to that.
import { backOff, judge, waitAsTold } from '../attempts.js';
import type { Timers } from '../environment.js';
import type { AnyProblem } from '../types.js';
import type { Answer, Exchange } from '../wire.js';
import { changeOf, contentTo, pick, placeOfKey, saysTheSame, type Change, type Content } from './content.js';
import { baseFrom, storedFrom, type Base, type Desk, type Stored, type Write } from './desk.js';
import type { LocalText } from './local.js';
import type { ReadFailure } from './outcomes.js';
import type { Both, DraftServer } from './server.js';
import type { AutosaveReceipt, DraftMembers } from './shapes.js';

/** Why nothing is written until the person decides. */
export type Block =
  /** Another tab holds the draft, until then unless it goes on. */
  | { kind: 'readOnly'; holder: string | null; until: string | null; problem: AnyProblem | null }
  /** The session or the draft has moved on in a way that must be looked at. */
  | { kind: 'stale'; problem: AnyProblem | null }
  /** The service will not have it: signed out, no member, too large. */
  | { kind: 'refused'; problem: AnyProblem | null };

/** clean: the service has all that is typed. blocked: see `block`. later: try again after `waitMs`. more: not all yet. */
export type Pushed = 'clean' | 'blocked' | 'later' | 'more';

type Step = 'on' | 'blocked' | 'later';

export type WriterOptions = {
  desk: Desk;
  server: DraftServer;
  local: LocalText;
  holder: string;
  stage: string;
  timers: Timers;
  random: () => number;
  ends: AbortSignal;
  onChange: () => void;
  /** Another tab may want to look: the draft is held by somebody else than before. */
  onHold: () => void;
};

const MOST_READS = 3; // in a row without a write that succeeds

export class Writer {
  readonly desk: Desk;
  block: Block | null = null;
  isOffline = false;
  /** The fate of a write is not known. */
  isChecking = false;
  waitMs = 0;
  /** This browser has room for what the service does not have. */
  isKeptHere = true;
  readonly #o: WriterOptions;
  #write: Write | null = null;
  #covered = new Map<string, Change>(); // typed, refused, and kept by the service as a copy
  #tried = 0;
  #reads = 0;
  #mustRead = false;

  constructor(options: WriterOptions) {
    this.#o = options;
    this.desk = options.desk;
  }

  get isWriting(): boolean {
    return this.#write !== null;
  }

  wall(): number {
    return this.#o.timers.wall();
  }

  /** Write until the service has all that is typed, `most` times at the most. */
  async push(most = Infinity): Promise<Pushed> {
    for (let writes = 0; ;) {
      if (this.#o.ends.aborted || this.block !== null) return 'blocked';
      if (this.#mustRead) {
        const step = await this.refresh();
        if (step !== 'on') return step;
        continue;
      }
      if (this.#write === null) {
        if (!this.desk.isDirty) return 'clean';
        if (this.#needsHold) {
          const step = await this.hold();
          if (step !== 'on') return step;
          continue;
        }
        if (writes++ >= most) return 'more';
        this.#write = this.desk.nextWrite(this.#o.stage);
        this.#o.onChange();
      }
      const step = await this.#writeOnce(this.#write);
      if (step !== 'on') return step;
    }
  }

  async #writeOnce(write: Write): Promise<Step> {
    const exchange = await this.#o.server.write(write, this.#o.ends);
    this.isChecking = !exchange.lost && exchange.answer.problem?.outcome === 'OutcomeUnknown';
    const answer = this.#answered(exchange);
    if (typeof answer === 'string') return answer;
    if (answer.problem !== null) return this.#refused(write, answer.problem);
    const before = this.desk.stored;
    this.desk.written(write, answer.json as AutosaveReceipt);
    this.#write = null;
    this.#reads = 0;
    this.#covered.clear();
    this.persist();
    if (before?.leaseGeneration !== this.desk.stored?.leaseGeneration) this.#o.onHold();
    return 'on';
  }

  /** The answer when it is one to go by; else what to do without. */
  #answered(exchange: Exchange): Answer | Step {
    if (this.#o.ends.aborted) return 'blocked';
    const judged = exchange.lost ? { kind: 'again' as const, problem: null, retryAfterMs: null } : judge(exchange.answer);
    if (judged.kind === 'again') return this.#later(judged.problem, judged.retryAfterMs);
    this.isOffline = false;
    this.#tried = 0;
    if (judged.kind === 'unexpected') return this.#blocked({ kind: 'refused', problem: null });
    return (exchange as Extract<Exchange, { lost: false }>).answer;
  }

  #later(problem: AnyProblem | null, retryAfterMs: number | null): Step {
    this.isOffline = problem === null || problem.status === 503;
    this.waitMs = retryAfterMs === null ? backOff(this.#tried, this.#o.random) : waitAsTold(retryAfterMs, this.#o.random);
    this.#tried++;
    this.#o.onChange();
    return 'later';
  }

  #blocked(block: Block): Step {
    this.block = block;
    this.#write = null;
    this.persist();
    this.#o.onChange();
    return 'blocked';
  }

  /** What the service kept as a copy need not be kept here. */
  cover(problem: AnyProblem, sent: Content): void {
    if (typeof (problem as DraftMembers).copyId !== 'string') return;
    for (const [key, change] of sent) this.#covered.set(key, change);
    this.persist();
  }

  #refused(write: Write, problem: AnyProblem): Step | Promise<Step> {
    const said = problem as DraftMembers;
    this.cover(problem, write.sent);
    this.#write = null;
    switch (problem.outcome) {
      case 'DraftLeaseHeld':
        return this.#blocked({ kind: 'readOnly', holder: said.holder ?? null, until: said.leaseExpiresAt ?? null, problem });
      case 'StaleAutosave':
        return this.#blocked({ kind: 'stale', problem });
      case 'PreconditionFailed':
      case 'StaleBase':
        return this.refresh(problem);
      case 'SizeLimitExceeded':
        return said.limit === 'draftCopies' ? this.refresh(problem) : this.#blocked({ kind: 'refused', problem });
      default:
        return this.#blocked({ kind: 'refused', problem });
    }
  }

  /** Read session and draft, and go by what they are. problem: the refusal that is the reason. */
  async refresh(problem: AnyProblem | null = null): Promise<Step> {
    this.#mustRead = true;
    if (problem !== null && ++this.#reads > MOST_READS) return this.#blocked({ kind: 'stale', problem });
    const fresh = await this.#o.server.read({ signal: this.#o.ends, patienceMs: -1 });
    if (this.#o.ends.aborted) return 'blocked';
    if (fresh.outcome !== 'Done') return this.#unread(fresh);
    this.isOffline = this.isChecking = false;
    this.#tried = 0;
    this.#mustRead = false;
    if (this.isGone(fresh.value)) return this.#blocked({ kind: 'refused', problem: fresh.value.missing });
    return this.apply(fresh.value, problem);
  }

  /** Something may have happened to the draft: look before the next write. */
  doubt(): void {
    this.#mustRead = true;
  }

  /** A draft is never deleted: when it is not there any more, this person may not see it any more. */
  isGone(both: Both): boolean {
    return both.draft === null && this.desk.stored !== null;
  }

  #unread(failed: ReadFailure): Step {
    if (failed.outcome === 'Unanswered') return this.#later(null, null);
    if (failed.outcome === 'Unexpected') return this.#blocked({ kind: 'refused', problem: null });
    return failed.retryable ? this.#later(failed, failed.retryAfterMs) : this.#blocked({ kind: 'refused', problem: failed });
  }

  /** Go by what was read. */
  apply(both: Both, problem: AnyProblem | null = null): Step {
    const base = baseFrom(both.session), stored = storedFrom(both.draft);
    if (this.#write !== null && this.desk.isLanded(this.#write, stored)) this.desk.landed(stored!);
    this.#write = null;
    const block = this.#go(base, stored, problem);
    if (block !== null) return this.#blocked(block);
    this.block = null;
    this.persist();
    this.#o.onChange();
    return 'on';
  }

  #go(base: Base, stored: Stored | null, problem: AnyProblem | null): Block | null {
    const { desk } = this;
    const isHeld = this.isHeld(stored);
    if (!desk.isDirty) desk.reset(base, stored);
    if (isHeld) return { kind: 'readOnly', holder: stored!.holder, until: stored!.leaseExpiresAt, problem };
    if (!desk.isDirty) return null;
    if (base.versionId !== desk.base.versionId) return { kind: 'stale', problem };
    return desk.merge(stored) ? null : { kind: 'stale', problem };
  }

  /** By this computer's clock: good enough to offer editing, as the service decides. */
  isHeld(stored: Stored | null): boolean {
    if (stored === null || stored.holder === null || stored.holder === this.#o.holder || stored.leaseExpiresAt === null) return false;
    return Date.parse(stored.leaseExpiresAt) > this.#o.timers.wall();
  }

  /** Hold the draft before writing what somebody else held: asking costs nothing, a refused write costs a copy. */
  async hold(): Promise<Step> {
    return this.#needsHold ? this.#lease(this.desk.stored!.etag) : 'on';
  }

  get #needsHold(): boolean {
    const { stored } = this.desk;
    return stored !== null && !this.desk.isHolder && (stored.holder !== null || stored.content.size > 0);
  }

  /** Heartbeat. */
  async beat(): Promise<Step> {
    const { stored } = this.desk;
    if (stored === null || !this.desk.isHolder || this.block !== null || this.#write !== null) return 'on';
    return this.#lease(stored.etag);
  }

  async #lease(etag: number): Promise<Step> {
    const answer = this.#answered(await this.#o.server.lease(this.#o.holder, etag, this.#o.ends));
    if (typeof answer === 'string') return answer;
    if (answer.problem !== null) return this.#noLease(answer.problem);
    const receipt = answer.json as AutosaveReceipt;
    const { stored } = this.desk;
    // The lease is ours, but the text is not what we know.
    if (receipt.etag !== etag || receipt.baseVersion !== (stored?.baseVersion ?? null)) return this.refresh();
    const isNew = receipt.leaseGeneration !== stored?.leaseGeneration;
    this.desk.leased(receipt);
    this.#o.onChange();
    if (isNew) this.#o.onHold();
    return 'on';
  }

  async #noLease(problem: AnyProblem): Promise<Step> {
    const said = problem as DraftMembers;
    if (problem.outcome === 'DraftLeaseHeld' && this.desk.isDirty && this.desk.isHolder) {
      // Another tab took over while something was typed here: this write cannot succeed, and the service keeps it.
      const write = this.desk.nextWrite(this.#o.stage);
      return this.#writeOnce(this.#write = write);
    }
    if (problem.outcome === 'DraftLeaseHeld' && this.desk.isDirty) {
      return this.#blocked({ kind: 'readOnly', holder: said.holder ?? null, until: said.leaseExpiresAt ?? null, problem });
    }
    if (problem.status === 401) return this.#blocked({ kind: 'refused', problem });
    return this.refresh(problem);
  }

  /* What the service does not have. */

  /** Typed, and neither in the draft nor in a copy. */
  unkept(): Map<string, Change> {
    const unsent = this.desk.unsent();
    for (const [key, change] of unsent) if (saysTheSame(change, this.#covered.get(key))) unsent.delete(key);
    return unsent;
  }

  /** Keep it in this browser until the service has it. Called after everything that is typed or answered. */
  persist(): void {
    const { local, holder, timers } = this.#o;
    const { base, stored } = this.desk;
    const unkept = this.unkept();
    const reverted = [...this.desk.dirtyKeys].filter(key => !this.desk.typed.has(key)).map(placeOfKey);
    if (unkept.size === 0 && reverted.length === 0) {
      local.dropTyped(holder);
      this.isKeptHere = true;
      return;
    }
    this.isKeptHere = local.keepTyped({
      holder, baseVersion: base.versionId, etag: stored?.etag ?? null, leaseGeneration: stored?.leaseGeneration ?? 0,
      writeSeq: stored?.writeSeq ?? 0, touchedAt: timers.wall(), content: contentTo(unkept), reverted,
    });
  }

  /**
   * Begin anew with what the service has. What is typed, not kept there, and not what it says anyway becomes a copy in
   * this browser. False, and nothing has changed, when there is no room for it.
   */
  startAnew(both: Both, reason: string): boolean {
    const base = baseFrom(both.session), stored = storedFrom(both.draft);
    if (!this.setAside(this.unkept(), base, stored, this.desk.base.versionId, reason)) return false;
    this.#write = null;
    this.#covered.clear();
    this.#reads = 0;
    this.#mustRead = false;
    this.desk.reset(base, stored);
    this.block = this.isHeld(stored) ? { kind: 'readOnly', holder: stored!.holder, until: stored!.leaseExpiresAt, problem: null } : null;
    this.persist();
    this.#o.onChange();
    return true;
  }

  /** Keep a copy here of what neither version nor draft says. */
  setAside(content: Content, base: Base, stored: Stored | null, baseVersion: string | null, reason: string): boolean {
    const others = [...content].filter(([key, change]) => {
      if (saysTheSame(change, stored?.content.get(key))) return false;
      const known = base.answers.get(key);
      const isVersion = change.kind === 'withdrawn' ? known === undefined : saysTheSame(change, known && changeOf(known));
      return !isVersion || stored?.content.has(key);
    });
    if (others.length === 0) return true;
    const kept = pick(content, others.map(([key]) => key));
    return this.#o.local.keepCopy({ reason, baseVersion, keptAt: new Date(this.#o.timers.wall()).toISOString(), content: contentTo(kept) });
  }
}
