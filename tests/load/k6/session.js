// One reviewer's session, for k6: the project's names come from the environment, the answers from the questions.

import http from 'k6/http';
import { check } from 'k6';

export const QUESTIONS = 200;

export function need(name) {
  const value = __ENV[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

// A random UUID, version 4.
export function uuid() {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16));
}

export class Session {
  // reviewer: from 1, which token and, in turn, which study.
  constructor(reviewer, changed) {
    const tokens = need('EVIDENCED_TOKENS').split(',');
    const studies = need('EVIDENCED_STUDIES').split(',');
    if (reviewer > tokens.length) throw new Error('there are fewer tokens than reviewers');
    const base = __ENV.EVIDENCED_URL || 'http://127.0.0.1:8080';
    const study = studies[(reviewer - 1) % studies.length];
    this.url = `${base}/v1/projects/${need('EVIDENCED_PROJECT')}/studies/${study}`
      + `/forms/${need('EVIDENCED_FORM')}/session`;
    this.token = tokens[reviewer - 1];
    this.stage = need('EVIDENCED_STAGE');
    this.reviewer = reviewer;
    this.changed = changed;
    this.version = null;
    this.revisions = {};
    this.first = 1;
    this.turn = 0;
  }

  // verb: save or complete. A refused one is sent again as a new command, on the same base.
  send(verb) {
    this.turn += 1;
    const answers = [];
    for (let i = this.first; i < this.first + this.changed; i += 1) {
      const question = `q${i}`;
      const value = `${this.reviewer} seen ${this.turn}`;
      answers.push({ question, value, baseRevision: this.revisions[question] || null });
    }
    const body = { stage: this.stage, formVersion: 1, draft: null, baseVersion: this.version, answers };
    const response = http.post(`${this.url}/${verb}`, JSON.stringify(body), {
      headers: {
        Authorization: `Bearer ${this.token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': uuid(),
      },
      tags: { name: verb },
    });
    if (check(response, { 'it took effect': (r) => r.status === 200 })) this.keep(response.json());
    return response;
  }

  keep(receipt) {
    this.version = receipt.versionId;
    for (const row of receipt.answers) this.revisions[row.question] = row.revision;
    this.first = ((this.first - 1 + this.changed) % QUESTIONS) + 1;
  }
}
