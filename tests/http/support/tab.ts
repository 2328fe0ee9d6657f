// One tab of one person: it types by the generated client, and knows what a front end would.
import { randomUUID } from 'node:crypto';
import type { Caller, Schemas } from './caller.js';
import type { Review } from './review.js';

type Receipt = Schemas['AutosaveReceipt'];
type Content = Schemas['DraftContentInput'];
type Values = Record<string, Schemas['AnswerValue']>;

const draft = '/v1/projects/{project}/studies/{study}/forms/{form}/session/draft';

export class Tab {
  readonly holder = randomUUID();
  base: string | null = null; // the version it types on
  etag: number | null = null; // of the draft it knows
  writeSeq = 0;
  generation = 0;

  constructor(readonly review: Review, readonly person: Caller, readonly study = review.studies[0]!, readonly form = review.form, readonly stage = review.stage) {}

  /** Another tab of the same person on the same draft, which knows as little as one that was just opened. */
  beside(): Tab {
    return new Tab(this.review, this.person, this.study, this.form, this.stage);
  }

  get path() {
    return { project: this.review.project, study: this.study, form: this.form };
  }

  /** Where the draft is. */
  get at(): string {
    return `${this.review.session(this.study, this.form)}/draft`;
  }

  content(values: Values, withdrawn: string[] = []): Content {
    return {
      answers: Object.entries(values).map(([question, value]) => ({ question, value, baseRevision: null })),
      withdrawn: withdrawn.map(question => ({ question })),
    };
  }

  patchBody(values: Values, withdrawn?: string[]): Schemas['PatchDraftRequest'] {
    return { baseVersion: this.base, holder: this.holder, writeSeq: this.writeSeq + 1, content: this.content(values, withdrawn) };
  }

  body(values: Values, withdrawn?: string[]): Schemas['PutDraftRequest'] {
    return { stage: this.stage, formVersion: 1, ...this.patchBody(values, withdrawn) };
  }

  get condition(): { 'If-Match': string } | { 'If-None-Match': '*' } {
    return this.etag === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${this.etag}"` };
  }

  /** What a Save names. */
  get named(): { etag: number; holder: string; writeSeq: number } {
    return { etag: this.etag!, holder: this.holder, writeSeq: this.writeSeq };
  }

  learn(receipt: Receipt): Receipt {
    [this.etag, this.writeSeq, this.generation, this.base] = [receipt.etag, receipt.writeSeq, receipt.leaseGeneration, receipt.baseVersion];
    return receipt;
  }

  #taken(result: { data?: Receipt; error?: unknown }): Receipt {
    if (result.data === undefined) throw new Error(`refused: ${JSON.stringify(result.error)}`);
    return this.learn(result.data);
  }

  /** Autosave, whole; it must be taken. */
  async put(values: Values, withdrawn?: string[]): Promise<Receipt> {
    return this.#taken(await this.person.api.PUT(draft, { params: { path: this.path, header: this.condition }, body: this.body(values, withdrawn) }));
  }

  /** Autosave of what changed; it must be taken. */
  async patch(values: Values, more: Partial<Schemas['PatchDraftRequest']> = {}): Promise<Receipt> {
    return this.#taken(await this.person.api.PATCH(draft, { params: { path: this.path, header: this.condition }, body: { ...this.patchBody(values), ...more } }));
  }

  /** An autosave that is refused, so. */
  refused(outcome: string, values: Values, headers: Record<string, string> = this.condition) {
    return this.person.refused(outcome, 'PUT', this.at, { body: this.body(values), headers });
  }

  async lease(): Promise<Receipt> {
    return this.#taken(await this.person.api.POST(`${draft}/lease`, { params: { path: this.path }, body: { holder: this.holder, etag: this.etag } }));
  }

  /** With the generation this tab saw, or another. */
  async takeOver(leaseGeneration = this.generation): Promise<Receipt> {
    return this.#taken(await this.person.api.POST(`${draft}/takeover`, { params: { path: this.path, header: this.review.header() }, body: { holder: this.holder, leaseGeneration } }));
  }

  async read(): Promise<Schemas['DraftView']> {
    const { data, error } = await this.person.api.GET(draft, { params: { path: this.path } });
    if (data === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
    return data;
  }

  /** What is typed, by question; null: nothing. */
  async typed(): Promise<Values | null> {
    const { content } = await this.read();
    return content === null ? null : Object.fromEntries(content.answers.map(({ question, value }) => [question, value]));
  }

  async copies(): Promise<Schemas['DraftCopyView'][]> {
    const { data } = await this.person.api.GET(`${draft}/conflicts`, { params: { path: this.path } });
    return data!.items;
  }
}
