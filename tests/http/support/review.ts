// A review ready to work in: a project, a published form in a stage, studies, and people.
import assert from 'node:assert/strict';
import { Caller, newKey, ok, type Schemas } from './caller.js';
import type { Daemon } from './daemon.js';
import { Tab } from './tab.js';

export const questions: Schemas['QuestionInput'][] = [
  { id: 'randomised', label: 'Was the study randomised?', kind: 'boolean', required: true },
  { id: 'blinding', label: 'How was it blinded?', kind: 'choice', options: [{ id: 'single', label: 'Single' }, { id: 'double', label: 'Double' }], parent: { questionId: 'randomised', anyOf: ['true'] } },
  { id: 'participants', label: 'How many took part?', kind: 'integer', min: '1', max: '100000' },
  { id: 'dose', label: 'At what dose, in mg?', kind: 'decimal' },
  { id: 'begun', label: 'When did it begin?', kind: 'date' },
  { id: 'setting', label: 'Where?', kind: 'multichoice', options: [{ id: 'clinic', label: 'Clinic' }, { id: 'home', label: 'Home' }] },
  { id: 'remarks', label: 'Anything else?', kind: 'text', maxLength: 50 },
];

export type Ids = Record<string, string>;

export class Review {
  form = '';
  formVersion = '';
  stage = '';
  studies: string[] = [];

  private constructor(readonly daemon: Daemon, readonly admin: Caller, readonly project: string) {}

  static async create(daemon: Daemon, name = 'A review'): Promise<Review> {
    const admin = new Caller(daemon, 'evidenced:create-project');
    const made = ok(await admin.api.POST('/v1/projects', { params: { header: { 'Idempotency-Key': newKey() } }, body: { name } }));
    return new Review(daemon, admin, made.id);
  }

  /** One with everything: `studies` of them, `target` reviewers wanted. */
  static async ready(daemon: Daemon, studies = 1, capacity: Schemas['CapacityInput'] = { target: 2 }): Promise<Review> {
    const review = await Review.create(daemon);
    await review.addForm(capacity);
    await review.addStudies(Array.from({ length: studies }, (_, i) => ({ title: `Study ${i}` })));
    return review;
  }

  get path(): string {
    return `/v1/projects/${this.project}`;
  }

  header(key: string = newKey()) {
    return { 'Idempotency-Key': key };
  }

  async member(...roles: Schemas['Role'][]): Promise<Caller> {
    const person = new Caller(this.daemon);
    ok(await this.admin.api.POST('/v1/projects/{project}/members', {
      params: { path: { project: this.project }, header: this.header() }, body: { investigatorId: person.id, roles },
    }));
    return person;
  }

  /** A form bound to a new stage and published; the first is the review's own. */
  async addForm(capacity: Schemas['CapacityInput'] = { target: 2 }, asked = questions): Promise<{ form: string; stage: string; version: string }> {
    const path = { project: this.project };
    const made = ok(await this.admin.api.POST('/v1/projects/{project}/forms', {
      params: { path, header: this.header() }, body: { name: `Form ${newKey()}`, capacity, questions: asked },
    }));
    const stage = ok(await this.admin.api.POST('/v1/projects/{project}/stages', {
      params: { path, header: this.header() }, body: { name: `Stage ${newKey()}`, formId: made.id },
    }));
    const published = ok(await this.admin.api.POST('/v1/projects/{project}/forms/{form}/publications', {
      params: { path: { ...path, form: made.id }, header: this.header() }, body: { baseVersion: 2 },
    }));
    if (this.form === '') Object.assign(this, { form: made.id, stage: stage.id, formVersion: published.formVersionId });
    return { form: made.id, stage: stage.id, version: published.formVersionId };
  }

  async addStudies(studies: Schemas['StudyRow'][]): Promise<Schemas['BatchReceipt']> {
    const receipt = ok(await this.admin.api.POST('/v1/projects/{project}/studies/batch', {
      params: { path: { project: this.project }, header: this.header() }, body: { studies },
    }));
    for (const row of receipt.rows) if (row.result === 'added') this.studies.push(row.studyId!);
    return receipt;
  }

  session(study: string = this.studies[0]!, form = this.form): string {
    return `${this.path}/studies/${study}/forms/${form}/session`;
  }

  /** A Save or Complete of these answers, from nothing unless `others` say otherwise. */
  body(answers: Record<string, Schemas['AnswerValue']>, others: Partial<Schemas['SaveRequest']> = {}): Schemas['SaveRequest'] {
    const changes = Object.entries(answers).map(([question, value]) => ({ question, value, baseRevision: null }));
    return { stage: this.stage, formVersion: 1, baseVersion: null, draft: null, answers: changes, ...others };
  }

  /** The person's work on the first study: a saved version, a draft on it and a copy beside; and an import. For `filled`. */
  async worked(person: Caller): Promise<{ tab: Tab; ids: Ids }> {
    const saved = await person.post(`${this.session()}/save`, this.body({ participants: 1 }));
    const tab = new Tab(this, person), other = tab.beside();
    [tab.base, tab.etag] = [saved.json.versionId, saved.json.draftEtag];
    [other.base, other.etag] = [tab.base, tab.etag];
    const { sessionId } = await tab.put({ participants: 2 });
    const held = await other.refused('DraftLeaseHeld', { participants: 3 });
    const imported = await this.admin.ask('POST', `${this.path}/imports`, { text: 'title\nImported\n', headers: { 'Content-Type': 'text/csv', Prefer: 'wait=30' } });
    return { tab, ids: { session: sessionId, version: tab.base!, copy: held['copyId'] as string, operation: imported.json.id } };
  }

  /** The path with ids in it: these, else the review's own. */
  filled(path: string, others: Ids = {}): string {
    const own: Ids = { project: this.project, study: this.studies[0]!, form: this.form, stage: this.stage };
    const formVersion: Ids = path.includes('/forms/{form}/versions/') ? { version: this.formVersion } : {};
    return path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const id = { ...own, ...others, ...formVersion }[name];
      assert.ok(id !== undefined, `no ${name} for ${path}`);
      return id;
    });
  }
}
