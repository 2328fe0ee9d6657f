// Save, Complete, Fix, Upgrade and Withdraw: what is typed is brought to the service first, then the command goes, under one id until
// its fate is known. Called in turns, like the writer.
import { backOff, type Patience } from '../attempts.js';
import type { Commands, Done, Result } from '../commands.js';
import { pause, type Timers } from '../environment.js';
import { contentFrom, contentTo, differing, type Content } from './content.js';
import type { Desk } from './desk.js';
import type { SaveProblem, SaveResult } from './outcomes.js';
import type { DraftServer, SubmitBody } from './server.js';
import type { FixRequest, SaveRequest, SessionReceipt } from './shapes.js';
import type { Writer } from './writer.js';

export type SubmitName = 'save' | 'complete' | 'fix' | 'upgrade' | 'withdraw';

export type SubmitOptions = Patience & {
  /** Revisions of others the reviewer was shown. */
  exposures?: readonly string[];
};

/** What one of them says besides. */
export type SubmitMore = { fixed?: FixRequest['answers']; formVersion?: number };

type Answered = Result<SessionReceipt, SaveProblem>;

export type SubmitterOptions = {
  desk: Desk;
  writer: Writer;
  server: DraftServer;
  commands: Commands;
  holder: string;
  stage: string;
  timers: Timers;
  random: () => number;
  ends: AbortSignal;
  onChange: () => void;
  onDone: () => void;
};

const MOST_WRITES = 3; // before a Save goes as it is, though somebody types on
const PATIENCE_MS = 60_000;

export class Submitter {
  /** Under way. */
  isBusy = false;
  /** An attempt was not answered. */
  isChecking = false;
  /** What a command ended in whose answer came when nobody waited for it any more. */
  late: Answered | null = null;
  waitMs = 0;
  readonly #o: SubmitterOptions;
  #tried = 0;

  constructor(options: SubmitterOptions) {
    this.#o = options;
  }

  /** The fate of a command is not known: nothing else may be sent before it is. */
  get isUnsettled(): boolean {
    return !this.isBusy && this.#o.commands.pending(this.#o.server.intent) !== null;
  }

  async submit(name: SubmitName, options: SubmitOptions, more: SubmitMore = {}): Promise<SaveResult> {
    if (this.#o.ends.aborted) return { outcome: 'Blocked', status: 'closed', problem: null };
    const earlier = this.isUnsettled ? this.#o.commands.pending(this.#o.server.intent) : null;
    const open = earlier === null ? null : await this.#findOut(options);
    if (open !== null) return open;
    // The person asked again because no answer came: it has come, and nothing was typed since.
    const isSame = earlier !== null && nameOf(earlier.path) === name && this.#o.desk.typed.size === 0;
    if (isSame && this.late?.outcome === 'Done') return this.late;
    this.isBusy = true;
    this.#o.onChange();
    try {
      const unready = await this.#makeReady(options);
      return unready ?? await this.#send(name, options, more);
    } finally {
      this.isBusy = this.isChecking = false;
    }
  }

  /** What became of the command that was not answered? False: still not known. */
  async findOut(): Promise<boolean> {
    const open = await this.#findOut({ patienceMs: -1 });
    if (open === null) return true;
    this.waitMs = backOff(this.#tried++, this.#o.random);
    return false;
  }

  /** Null when its fate is known; `late` is its result. */
  async #findOut(patience: Patience): Promise<Answered | null> {
    const { commands, server, ends, random } = this.#o;
    const pending = commands.pending(server.intent);
    const result = await commands.resume<SessionReceipt, SaveProblem>(server.intent, { signal: ends, random, ...patience });
    if (pending === null || result === null) return null;
    if (commands.pending(server.intent) !== null) return result;
    const { answers = [], withdrawn = null, baseVersion = null } = JSON.parse(pending.body ?? '{}') as Partial<SaveRequest>;
    this.late = result;
    // Somebody may have loaded what there is in the meantime: then that is what there is.
    const isSame = this.#o.desk.base.versionId === baseVersion;
    if (isSame) await this.#settled(nameOf(pending.path), contentFrom({ answers, withdrawn }), result);
    else await this.#o.writer.refresh();
    return null;
  }

  /** Bring what is typed to the service first, so that a command that is refused leaves it in the draft. */
  async #makeReady(options: SubmitOptions): Promise<SaveResult | null> {
    const { writer, timers, ends } = this.#o;
    const until = timers.now() + (options.patienceMs ?? PATIENCE_MS);
    for (;;) {
      const pushed = await writer.push(MOST_WRITES);
      const held = pushed === 'clean' ? await writer.hold() : 'on';
      if (ends.aborted) return { outcome: 'Blocked', status: 'closed', problem: null };
      if (writer.block !== null) return { outcome: 'Blocked', status: writer.block.kind, problem: writer.block.problem };
      if (pushed !== 'later' && held === 'on') return null;
      if (timers.now() + writer.waitMs > until || options.signal?.aborted) return { outcome: 'NotSent' };
      await pause(timers, writer.waitMs, options.signal ?? ends);
    }
  }

  async #send(name: SubmitName, options: SubmitOptions, more: SubmitMore): Promise<SaveResult> {
    const { desk, server, ends, random } = this.#o;
    for (let again = false; ; again = true) {
      const sent = new Map(desk.typed);
      const result = await server.submit(name, this.#bodyOf(name, sent, options, more), {
        signal: ends, random, ...options,
        onWait: (ms, problem) => {
          this.isChecking = problem === null || problem.outcome === 'OutcomeUnknown';
          this.#o.onChange();
          options.onWait?.(ms, problem);
        },
      });
      if (this.#o.commands.pending(server.intent) !== null) return result;
      if (again || !await this.#isOvertaken(result, sent)) {
        await this.#settled(name, sent, result);
        return result;
      }
    }
  }

  #bodyOf(name: SubmitName, sent: Content, options: SubmitOptions, more: SubmitMore): SubmitBody {
    const { desk, holder, stage } = this.#o;
    const { stored, base, formVersion } = desk;
    const draft = stored !== null && desk.isHolder ? { etag: stored.etag, holder, writeSeq: stored.writeSeq } : null;
    const exposures = options.exposures === undefined ? {} : { exposures: [...options.exposures] };
    const beside = { stage, baseVersion: base.versionId ?? '', draft };
    switch (name) {
      case 'save':
      case 'complete': return { stage, formVersion, baseVersion: base.versionId, draft, ...contentTo(sent), ...exposures };
      case 'fix': return { ...beside, answers: more.fixed ?? [], ...exposures };
      case 'upgrade': return { ...beside, formVersion: more.formVersion ?? formVersion, ...exposures };
      case 'withdraw': return beside;
    }
  }

  /** Refused for the draft's sake (it was released, say) while its text is what was sent: it may be sent anew. */
  async #isOvertaken(result: Answered, sent: Content): Promise<boolean> {
    const { writer, desk } = this.#o;
    if (result.outcome !== 'StaleBase' || result.base !== 'draft') return false;
    if (await writer.refresh() !== 'on' || await writer.hold() !== 'on') return false;
    return differing(sent, desk.typed).length === 0 && !desk.isDirty;
  }

  async #settled(name: SubmitName, sent: Content, result: Answered): Promise<void> {
    const { writer } = this.#o;
    this.#tried = 0;
    if (result.outcome === 'Done') return this.#done(name, sent, result);
    if (result.outcome === 'DraftLeaseHeld') {
      writer.cover(result, sent);
      writer.block = { kind: 'readOnly', holder: result.holder, until: result.leaseExpiresAt, problem: result };
    }
    if (result.outcome === 'StaleBase' && (result.base === 'session' || result.base === 'draft')) {
      writer.block ??= { kind: 'stale', problem: result };
    }
  }

  async #done(name: SubmitName, sent: Content, result: Done<SessionReceipt>): Promise<void> {
    const { writer, desk } = this.#o;
    if (name === 'save' || name === 'complete') {
      desk.saved(sent, result.receipt);
    } else {
      // What was typed beside it is no part of it: the service keeps it as a copy.
      if (name === 'upgrade') desk.formVersion = result.receipt.formVersion;
      await writer.refresh();
    }
    writer.persist();
    this.#o.onDone();
  }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1) as SubmitName;
