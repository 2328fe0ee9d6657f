// What one tab knows of one draft: the session's newest version, the draft as the service has it, and what is typed.
// No network and no clock: every step is an assignment that can be read.
import {
  answered, changeOf, contentFrom, contentTo, difference, differing, keyOf, pick, placeOf, saysTheSame,
  type Change, type Content, type Place,
} from './content.js';
import type {
  AnswerValue, AnswerView, AutosaveReceipt, DraftView, PatchDraftRequest, PutDraftRequest, SessionReceipt, SessionView,
} from './shapes.js';
import type { Schemas } from '../types.js';

/** The session's newest version; `versionId` null before the first. */
export type Base = {
  versionId: string | null;
  state: Schemas['SessionState'] | null;
  formVersion: number | null;
  answers: ReadonlyMap<string, AnswerView>;
};

/** The draft as the service has it. */
export type Stored = {
  etag: number;
  baseVersion: string | null;
  formVersion: number | null;
  holder: string | null;
  writeSeq: number;
  leaseGeneration: number;
  leaseExpiresAt: string | null;
  content: Content;
};

/** One autosave: the bytes that are sent, as often as it takes, and what it says. */
export type Write = {
  method: 'PUT' | 'PATCH';
  headers: Record<string, string>;
  body: string;
  writeSeq: number;
  /** All that is typed as of this write. */
  content: Content;
  /** What of it the service would keep as a copy. */
  sent: Content;
};

/** An answer as the person sees it. */
export type Shown = {
  question: string;
  path?: Place['path'];
  value: AnswerValue;
  notes?: string | null;
  /** Typed, and in no version yet. */
  isChanged: boolean;
  /** What the version says there, and whether that is outdated; null when it says nothing. */
  saved: AnswerView | null;
};

export function baseFrom(view: SessionView | null): Base {
  return {
    versionId: view?.versionId ?? null,
    state: view?.state ?? null,
    formVersion: view?.formVersion ?? null,
    answers: new Map((view?.answers ?? []).map(answer => [keyOf(answer), answer])),
  };
}

export function storedFrom(view: DraftView | null): Stored | null {
  if (view === null) return null;
  const { etag, baseVersion, formVersion, holder, writeSeq, leaseGeneration, leaseExpiresAt } = view;
  return { etag, baseVersion, formVersion, holder, writeSeq, leaseGeneration, leaseExpiresAt, content: contentFrom(view.content) };
}

export class Desk {
  base: Base;
  stored: Stored | null;
  typed: Map<string, Change>;
  readonly #holder: string;
  /** The published form version that is shown. */
  formVersion: number;
  /** Revisions of answers that were withdrawn since: still what a new answer there is typed from. */
  readonly #withdrawn = new Map<string, string>();
  #dirty = new Set<string>();
  #whole = false; // the next write says everything

  constructor(holder: string, formVersion: number, base: Base, stored: Stored | null) {
    this.#holder = holder;
    this.formVersion = formVersion;
    this.base = base;
    this.stored = stored;
    this.typed = new Map(stored?.content ?? []);
    this.#whole = stored !== null && stored.formVersion !== formVersion;
  }

  /* What the person does. */

  answer(place: Place, value: AnswerValue, notes?: string | null): void {
    const key = keyOf(place);
    const known = this.base.answers.get(key);
    const before = this.typed.get(key);
    // What was typed before says what it was typed from; it may be older than the version, and then Save must ask.
    const from = before?.kind === 'answer' ? before.answer.baseRevision : known?.revision ?? this.#withdrawn.get(key) ?? null;
    const change = answered(place, value, notes, from);
    // What was typed and taken back again is no change.
    if (known !== undefined && saysTheSame(change, changeOf(known))) this.#drop(key);
    else this.#put(key, change);
  }

  withdraw(place: Place): void {
    const key = keyOf(place);
    if (this.base.answers.has(key)) this.#put(key, { kind: 'withdrawn', place: placeOf(place) });
    else this.#drop(key);
  }

  revert(place: Place): void {
    this.#drop(keyOf(place));
  }

  /** The person has seen what the answer is now: what is typed there is typed from that. */
  rebase(place: Place, revision: string | null): void {
    const key = keyOf(place);
    const change = this.typed.get(key);
    if (change?.kind === 'answer') this.#put(key, { kind: 'answer', answer: { ...change.answer, baseRevision: revision } });
  }

  /** Forget what the service does not have. */
  forget(): void {
    this.typed = new Map(this.stored?.content ?? []);
    this.#compare();
  }

  /** Lay changes over what is typed. */
  lay(changes: Content, reverted: Iterable<string> = []): void {
    for (const [key, change] of changes) this.#put(key, change);
    for (const key of reverted) this.#drop(key);
  }

  /** What stands at the place, typed or saved; null when nothing does. */
  shown(place: Place): Shown | null {
    const key = keyOf(place);
    const change = this.typed.get(key);
    if (change?.kind === 'withdrawn') return null;
    const saved = this.base.answers.get(key) ?? null;
    if (change !== undefined) {
      const { value, notes = null } = change.answer;
      return { ...placeOf(change.answer), value, notes, isChanged: true, saved };
    }
    return saved === null ? null : { ...placeOf(saved), value: saved.value, notes: saved.notes ?? null, isChanged: false, saved };
  }

  allShown(): Shown[] {
    const keys = new Map<string, Place>();
    for (const [key, answer] of this.base.answers) keys.set(key, answer);
    for (const [key, change] of this.typed) if (change.kind === 'answer') keys.set(key, change.answer);
    return [...keys.values()].map(place => this.shown(place)).filter(shown => shown !== null);
  }

  /* What the service does not have yet. */

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  get dirtyKeys(): ReadonlySet<string> {
    return this.#dirty;
  }

  /** Typed and not stored. */
  unsent(): Map<string, Change> {
    return pick(this.typed, this.#dirty);
  }

  get isHolder(): boolean {
    return this.stored?.holder === this.#holder;
  }

  /** The next write. Until it is answered there is no other. */
  nextWrite(stage: string): Write {
    const { stored } = this;
    const writeSeq = stored !== null && this.isHolder ? stored.writeSeq + 1 : 1;
    const declared = { baseVersion: this.base.versionId, holder: this.#holder, writeSeq };
    const content = new Map(this.typed);
    if (stored === null || this.#whole) {
      const body: PutDraftRequest = { stage, formVersion: this.formVersion, ...declared, content: contentTo(content) };
      const headers: Record<string, string> = stored === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${stored.etag}"` };
      return { method: 'PUT', headers, body: JSON.stringify(body), writeSeq, content, sent: content };
    }
    const changed = difference(stored.content, content);
    const body: PatchDraftRequest = { ...declared, ...changed };
    return {
      method: 'PATCH', headers: { 'If-Match': `"${stored.etag}"` }, body: JSON.stringify(body),
      writeSeq, content, sent: contentFrom(changed.content),
    };
  }

  /* What the service says. */

  written(write: Write, receipt: AutosaveReceipt): void {
    this.leased(receipt);
    const { formVersion } = this.stored!;
    this.stored = { ...this.stored!, content: write.content, formVersion: write.method === 'PUT' ? this.formVersion : formVersion };
    this.#whole = false;
    this.#compare();
  }

  /** Who holds it, and what it is now, without its content. */
  leased(receipt: AutosaveReceipt): void {
    const { etag, baseVersion, holder, writeSeq, leaseGeneration, leaseExpiresAt } = receipt;
    const { content, formVersion } = this.stored ?? { content: new Map<string, Change>(), formVersion: null };
    this.stored = { etag, baseVersion, formVersion, holder, writeSeq, leaseGeneration, leaseExpiresAt, content };
  }

  /** Did the write arrive after all? */
  isLanded(write: Write, fresh: Stored | null): boolean {
    return fresh !== null && fresh.holder === this.#holder && fresh.writeSeq === write.writeSeq
      && differing(write.content, fresh.content).length === 0;
  }

  /** What was written last did arrive, and this is how it is stored. */
  landed(stored: Stored): void {
    this.stored = stored;
    this.#whole = false;
    this.#compare();
  }

  /** Begin anew with what the service has; what was typed and not stored is gone from here. */
  reset(base: Base, stored: Stored | null): void {
    this.base = base;
    this.stored = stored;
    this.typed = new Map(stored?.content ?? []);
    this.#whole = stored !== null && stored.formVersion !== this.formVersion;
    this.#compare();
  }

  /**
   * Go on from a draft that somebody else wrote meanwhile, on the same version: their changes and mine together. False,
   * and nothing is changed, when both changed one place and differ: that is for the person to decide.
   */
  merge(stored: Stored | null): boolean {
    const theirs = stored?.content ?? new Map<string, Change>();
    const before = this.stored?.content ?? new Map<string, Change>();
    const clash = differing(before, theirs).some(key => this.#dirty.has(key) && !saysTheSame(theirs.get(key), this.typed.get(key)));
    if (clash) return false;
    const mine = this.unsent(), reverted = [...this.#dirty].filter(key => !this.typed.has(key));
    this.stored = stored;
    this.typed = new Map(theirs);
    for (const [key, change] of mine) this.typed.set(key, change);
    for (const key of reverted) this.typed.delete(key);
    this.#whole = true;
    this.#compare();
    return true;
  }

  /** A Save or Complete of `sent` took effect: it is the version now, and what was typed since then goes on from there. */
  saved(sent: Content, receipt: SessionReceipt): void {
    const before = this.base.answers;
    const answers = new Map(before);
    const revisions = new Map(receipt.answers.map(answer => [keyOf(answer), answer.revision]));
    for (const [key, change] of sent) {
      const revision = answers.get(key)?.revision;
      if (change.kind === 'withdrawn' && revision !== undefined) this.#withdrawn.set(key, revision);
      if (change.kind === 'withdrawn') answers.delete(key);
      else answers.set(key, viewOf(change, revisions.get(key) ?? change.answer.baseRevision ?? ''));
    }
    this.base = { versionId: receipt.versionId, state: receipt.state, formVersion: receipt.formVersion, answers };
    this.stored = {
      holder: null, writeSeq: 0, leaseGeneration: 0, leaseExpiresAt: null, formVersion: null, ...this.stored,
      etag: receipt.draftEtag, baseVersion: receipt.versionId, content: new Map(),
    };
    const typed = this.typed;
    this.typed = new Map();
    for (const [key, change] of typed) if (!saysTheSame(change, sent.get(key))) this.#keepTyping(key, change);
    for (const key of sent.keys()) if (!typed.has(key)) this.#keepTaking(key, before.get(key));
    this.#whole = this.stored.formVersion !== this.formVersion;
    this.#compare();
  }

  #keepTyping(key: string, change: Change): void {
    const known = this.base.answers.get(key);
    if (change.kind === 'withdrawn') {
      if (known !== undefined) this.typed.set(key, change);
      return;
    }
    const { answer } = change;
    this.typed.set(key, answered(answer, answer.value, answer.notes, known?.revision ?? answer.baseRevision));
  }

  /** Taken back since it was sent: what stood there before is a change of the version now. */
  #keepTaking(key: string, before: AnswerView | undefined): void {
    const known = this.base.answers.get(key);
    if (before !== undefined) this.typed.set(key, answered(before, before.value, before.notes, known?.revision ?? before.revision));
    else if (known !== undefined) this.typed.set(key, { kind: 'withdrawn', place: placeOf(known) });
  }

  #put(key: string, change: Change): void {
    this.typed.set(key, change);
    this.#compareOne(key);
  }

  #drop(key: string): void {
    this.typed.delete(key);
    this.#compareOne(key);
  }

  #compareOne(key: string): void {
    const one = [key];
    const differs = differing(pick(this.stored?.content ?? new Map(), one), pick(this.typed, one)).length > 0;
    if (differs) this.#dirty.add(key);
    else this.#dirty.delete(key);
  }

  #compare(): void {
    this.#dirty = new Set(differing(this.stored?.content ?? new Map(), this.typed));
  }
}

function viewOf(change: Extract<Change, { kind: 'answer' }>, revision: string): AnswerView {
  const { value, notes } = change.answer;
  const place = placeOf(change.answer);
  return { question: place.question, ...(place.path ? { path: place.path } : {}), value, revision, ...(notes ? { notes } : {}) };
}
