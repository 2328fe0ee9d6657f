// One tab of a reviewer's browser: what is typed in it, and how it autosaves. The rules are those of docs/drafts.md.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { carryOut } from './review.mjs';
import { Fault } from './tell.mjs';

const ATTEMPTS = 100;
const BREATH_MS = 20; // between a connection that broke and the next try

export class Tab {
  /** name: a letter; the words typed here are A1, A2, … The client may be another one than the reviewer's own. */
  constructor(review, session, name, client = session.reviewer.client) {
    Object.assign(this, { review, session, name, client });
    this.path = `${session.path}/draft`;
    this.holder = randomUUID();
    this.writeSeq = 0;
    this.etag = null; // of the content this tab knows; null: there is no draft yet
    this.fields = new Map(); // question to text, as they stand on the screen
    this.words = []; // all that was ever typed here
    this.readOnly = false;
    this.counts = { puts: 0, patches: 0, unanswered: 0, refused: 0 };
    review.tabs.push(this);
  }

  /** Opens the form: shows the draft as it is stored. Nothing is written. */
  async load() {
    const draft = await this.review.read(this.client, this.path);
    if (draft === null) return;
    this.etag = draft.etag;
    this.leaseGeneration = draft.leaseGeneration;
    this.show(draft.content);
  }

  show(content) {
    this.fields = new Map((content?.answers ?? []).map(({ question, value }) => [question, value]));
  }

  /** Types words at the end of a field, nothing is sent yet; the changed field. */
  type(question, count) {
    for (let i = 0; i < count; i++) {
      const word = `${this.name}${this.words.length + 1}`;
      this.words.push(word);
      this.fields.set(question, `${this.fields.get(question) ?? ''} ${word}`.trim());
    }
    return question;
  }

  /** Types one word and autosaves, so often. All must succeed. */
  async typeAndSave(question, count) {
    for (let i = 0; i < count; i++) await this.mustWrite(this.next([this.type(question, 1)]));
  }

  /** The next autosave: the first one whole, later ones what changed. Not sent yet. */
  next(changed) {
    const first = this.etag === null;
    const body = { baseVersion: this.session.base, holder: this.holder, writeSeq: this.writeSeq + 1,
      content: this.#content(first ? [...this.fields.keys()] : changed) };
    if (first) Object.assign(body, { stage: this.review.stage, formVersion: this.review.formVersion });
    return { method: first ? 'PUT' : 'PATCH', body: JSON.stringify(body),
      headers: first ? { 'If-None-Match': '*' } : { 'If-Match': `"${this.etag}"` } };
  }

  #content(questions) {
    return { withdrawn: [], answers: questions.map((question) => ({ question, value: this.fields.get(question),
      baseRevision: this.session.revisions.get(question) ?? null })) };
  }

  /** Sends a write once; null when there was no answer. */
  async send(write) {
    const answer = await this.client.ask(write.method, this.path, write);
    if (answer === null) this.counts.unanswered++;
    return answer;
  }

  /** Sends this very write until it is answered. What the answer tells is kept for the next one. */
  async write(write) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await this.review.daemon.whenUp();
      const answer = await this.send(write);
      if (answer !== null && !answer.json?.retryable) return this.#took(write, answer);
      await pause(answer === null ? BREATH_MS : Math.min(answer.retryAfterMs, 1000));
    }
    throw new Fault(`An autosave was sent ${ATTEMPTS} times and has no answer.`);
  }

  async mustWrite(write) {
    const answer = await this.write(write);
    if (answer.status !== 200) throw new Fault(`An autosave was refused: ${answer.json?.outcome ?? answer.status}.`);
    return answer;
  }

  #took(write, answer) {
    if (answer.status === 200) {
      this.counts[write.method === 'PUT' ? 'puts' : 'patches']++;
      this.writeSeq++;
      this.etag = answer.json.etag;
    } else {
      this.counts.refused++;
    }
    this.leaseGeneration = answer.json?.leaseGeneration ?? this.leaseGeneration;
    return answer;
  }

  /* Something a person decides about the draft: a command with a key of its own. */
  async #decide(name, path, body) {
    const command = this.review.newCommand(this.client, name, path, body, this.session);
    const answer = await carryOut(this.review.daemon, this.client, command);
    if (answer.status !== 200) throw new Fault(`${name} was refused as ${answer.json?.outcome}.`);
    this.writeSeq = answer.json.writeSeq; // a new holder counts from 1
    this.etag = answer.json.etag;
    this.leaseGeneration = answer.json.leaseGeneration;
    return answer.json;
  }

  /** This tab writes from now on, and shows what is stored. */
  async takeOver() {
    const { holder, leaseGeneration } = this;
    const receipt = await this.#decide('TakeOverDraft', `${this.path}/takeover`, { holder, leaseGeneration });
    await this.load();
    return receipt;
  }

  /** Lays a copy over the draft, and shows what is stored then. */
  async adopt(copyId) {
    const { holder, etag } = this;
    const receipt = await this.#decide('AdoptDraftCopy', `${this.path}/conflicts/${copyId}/adopt`, { holder, etag });
    await this.load();
    return receipt;
  }

  /** A Save of all that is on the screen, which consumes the draft. Not sent yet. */
  save() {
    const { etag, holder, writeSeq } = this;
    return this.review.write(this.session, 'Save', this.fields, { etag, holder, writeSeq });
  }
}
