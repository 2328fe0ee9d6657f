// A review and the people who work on it, as their browsers would: who sends what, and what came of it. Everything
// that is sent is kept, for the recount.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from './client.mjs';
import { Fault } from './tell.mjs';

const ATTEMPTS = 100;
const BREATH_MS = 50; // between a connection that broke and the next try

/** Sends a command until it has an answer that stays: a receipt, or a refusal that another try would not change. */
export async function carryOut(daemon, client, command) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await daemon.whenUp();
    const answer = await client.ask('POST', command.path, command);
    note(command, answer);
    if (answer !== null && !answer.json?.retryable) return answer;
    await pause(answer === null ? BREATH_MS : Math.min(answer.retryAfterMs, 1000));
  }
  throw new Fault(`${command.name} was sent ${ATTEMPTS} times and has no answer.`);
}

/** Keeps what came of one sending. */
export function note(command, answer) {
  if (answer === null) {
    command.unanswered++;
  } else if (answer.status !== 200) {
    const outcome = answer.json?.outcome ?? `status ${answer.status}`;
    command.refusals.push(outcome);
  } else {
    command.replays += answer.replayed ? 1 : 0;
    command.firsts += answer.replayed ? 0 : 1;
    command.receipt ??= answer.bytes;
    command.differing ||= !command.receipt.equals(answer.bytes);
  }
}

export class Review {
  constructor(daemon) {
    this.daemon = daemon;
    this.commands = []; // all of them, in the order they were first sent
    this.sessions = [];
    this.tabs = []; // those that autosave
    this.reviewers = [];
    this.studies = [];
  }

  newCommand(client, name, path, body, session = null) {
    const command = { name, client, path, body: JSON.stringify(body), key: randomUUID(), session,
      firsts: 0, replays: 0, unanswered: 0, refusals: [], receipt: null, differing: false };
    this.commands.push(command);
    return command;
  }

  /* As the administrator; it must succeed. */
  async #setUp(name, path, body) {
    const command = this.newCommand(this.admin, name, path, body);
    const answer = await carryOut(this.daemon, this.admin, command);
    if (answer.status !== 200) throw new Fault(`${name} was refused: ${answer.json?.detail ?? answer.status}`);
    return answer.json;
  }

  async read(client, path) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await this.daemon.whenUp();
      const answer = await client.ask('GET', path);
      if (answer?.status === 200) return answer.json;
      if (answer !== null && !answer.json?.retryable) return null;
      await pause(answer === null ? BREATH_MS : Math.min(answer.retryAfterMs, 1000));
    }
    throw new Fault(`GET ${path} has no answer.`);
  }

  /** All items of a list, page by page. */
  async readAll(client, path) {
    const items = [];
    let cursor = '';
    do {
      const page = await this.read(client, `${path}?limit=500${cursor}`);
      if (page === null) throw new Fault(`GET ${path} was refused.`);
      items.push(...page.items);
      cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
    } while (cursor !== '');
    return items;
  }

  async createProject(token, name) {
    this.admin = new Client(() => this.daemon.port, token);
    const { id } = await this.#setUp('CreateProject', '/v1/projects', { name });
    this.path = `/v1/projects/${id}`;
  }

  async join(investigatorId, roles) {
    await this.#setUp('SetMember', `${this.path}/members`, { investigatorId, roles });
  }

  async addReviewer(name, investigatorId, token) {
    await this.join(investigatorId, ['reviewer']);
    const reviewer = { name, investigatorId, client: new Client(() => this.daemon.port, token) };
    this.reviewers.push(reviewer);
    return reviewer;
  }

  /** Makes the form, the stage it is filled in at, and publishes the form's first version. */
  async publishForm(form, stageName) {
    const made = await this.#setUp('CreateForm', `${this.path}/forms`, form);
    this.form = made.id;
    this.questions = form.questions;
    this.stage = (await this.#setUp('CreateStage', `${this.path}/stages`, { name: stageName, formId: made.id })).id;
    const { version } = await this.read(this.admin, `${this.path}/forms/${made.id}`);
    const published = await this.#setUp('PublishForm', `${this.path}/forms/${made.id}/publications`,
      { baseVersion: version });
    this.formVersion = published.formVersion;
  }

  /** Adds studies in one batch; the receipt. */
  async importStudies(batch) {
    const receipt = await this.#setUp('AddStudies', `${this.path}/studies/batch`, batch);
    if (this.studies.length === 0) this.studies = receipt.rows.map((row) => row.studyId);
    return receipt;
  }

  /** One reviewer's work on one study. Nothing is sent yet. */
  openSession(reviewer, study) {
    const path = `${this.path}/studies/${this.studies[study]}/forms/${this.form}/session`;
    const session = { reviewer, study, path, base: null, answers: new Map(), revisions: new Map(), versions: [] };
    this.sessions.push(session);
    return session;
  }

  /** A Save or Complete of these changed answers, on what the session is known to hold now; out of this draft, if any. */
  write(session, name, changes, draft = null) {
    const answers = [...changes].map(([question, value]) => (
      { question, value, baseRevision: session.revisions.get(question) ?? null }));
    const body = { stage: this.stage, formVersion: this.formVersion, baseVersion: session.base, draft, answers };
    const { client } = session.reviewer;
    const command = this.newCommand(client, name, `${session.path}/${name.toLowerCase()}`, body, session);
    command.holds = new Map([...session.answers, ...changes]); // all the new version should hold
    return command;
  }

  /** Gives the reviewer's place back. */
  withdraw(session) {
    const body = { stage: this.stage, baseVersion: session.base, draft: null };
    const command = this.newCommand(session.reviewer.client, 'Withdraw', `${session.path}/withdraw`, body, session);
    command.holds = new Map(session.answers);
    return command;
  }

  /** Takes a receipt in: what the session holds now. */
  accept(command) {
    const receipt = JSON.parse(command.receipt.toString('utf8'));
    const { session } = command;
    session.base = receipt.versionId;
    session.answers = command.holds;
    for (const answer of receipt.answers) session.revisions.set(answer.question, answer.revision);
    session.versions.push({ command, versionId: receipt.versionId, studyVersion: receipt.studyVersion });
    session.state = receipt.state;
  }

  /** Sends it until it is answered; it must succeed. */
  async mustSend(command) {
    const answer = await carryOut(this.daemon, command.client, command);
    if (answer.status !== 200) {
      throw new Fault(`${command.name} was refused as ${answer.json?.outcome}: ${answer.json?.detail}`);
    }
    this.accept(command);
    return answer;
  }

  done() {
    this.admin?.done();
    for (const reviewer of this.reviewers) reviewer.client.done();
  }
}
