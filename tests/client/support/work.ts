// The client at work against the real daemon. Every request and every answer is held against the description.
import assert from 'node:assert/strict';
import { Client, memoryStore, type ClientOptions, type Draft, type DraftOptions, type DraftStatus } from '#client';
import { checkAnswer, operationOf, requestFits } from '../../http/support/contract.js';
import type { Caller } from '../../http/support/caller.js';
import type { Daemon } from '../../http/support/daemon.js';
import type { Review } from '../../http/support/review.js';

/** lost: the request never arrives. unanswered: its answer is lost. */
export type Loss = 'lost' | 'unanswered';

export class Line {
  /** Asked for each request. */
  loses: (method: string, path: string) => Loss | undefined = () => undefined;

  constructor(readonly daemon: Daemon) {}

  /** fetch, to wherever the daemon is now: after a restart it is elsewhere. */
  readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input)), method = init.method ?? 'GET';
    const operation = operationOf(method, url.pathname);
    assert.ok(operation, `${method} ${url.pathname} is not described`);
    const isJson = new Headers(init.headers).get('content-type') === 'application/json';
    if (typeof init.body === 'string' && isJson) assert.ok(requestFits(operation, JSON.parse(init.body)), `not described: ${init.body.slice(0, 500)}`);
    const loss = this.loses(method, url.pathname);
    if (loss === 'lost') throw new TypeError('lost');
    const response = await fetch(this.daemon.api + url.pathname + url.search, init);
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    checkAnswer(operation, answer);
    if (loss === 'unanswered') throw new TypeError('the answer is lost');
    return new Response([204, 304].includes(answer.status) ? null : answer.text, { status: answer.status, headers: answer.headers });
  };

  once(what: Loss, fits: (method: string, path: string) => boolean): void {
    this.loses = (method, path) => {
      if (!fits(method, path)) return undefined;
      this.loses = () => undefined;
      return what;
    };
  }
}

export function clientOf(person: Caller, line: Line, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    baseUrl: 'http://daemon', token: () => person.token, person: person.id, fetch: line.fetch,
    own: memoryStore(), local: memoryStore(), channel: null, random: () => 0.01, ...options,
  });
}

export async function openDraft(client: Client, review: Review, options: Partial<DraftOptions> = {}): Promise<Draft> {
  const opened = await client.openDraft({
    project: review.project, study: review.studies[0]!, form: review.form, stage: review.stage, formVersion: 1, debounceMs: 1, ...options,
  });
  assert.equal(opened.outcome, 'Done', JSON.stringify(opened));
  if (opened.outcome !== 'Done') throw new Error();
  return opened.draft;
}

/** Wait for a status. */
export function until(draft: Draft, status: DraftStatus): Promise<void> {
  return new Promise(resolve => {
    if (draft.state.status === status) return resolve();
    const leave = draft.subscribe(() => {
      if (draft.state.status !== status) return;
      leave();
      resolve();
    });
  });
}
