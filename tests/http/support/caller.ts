// Somebody who calls: the generated client, and raw requests for what it would never send. Every answer is checked.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '#api';
import { checkAnswer, operationOf, sentFits, type Answer, type Problem } from './contract.js';
import type { Daemon } from './daemon.js';

export type Schemas = components['schemas'];
export type Reply = Answer & { json: any; problem: Problem };

type Raw = { key?: string | null; body?: unknown; text?: string | Uint8Array; headers?: Record<string, string>; token?: string | null };

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const newKey = randomUUID;

export class Caller {
  readonly id = randomUUID();
  readonly token: string;
  readonly api: Client<paths>;
  readonly #daemon: Daemon;

  constructor(daemon: Daemon, scope = '') {
    this.#daemon = daemon;
    this.token = daemon.token(this.id, scope);
    // The address is looked up at each call: after a restart it is another.
    this.api = createClient<paths>({ baseUrl: 'http://daemon', fetch: request => this.#fetch(request) });
  }

  async #fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const sent = request.body === null ? '' : await request.text();
    const text = sent === '' ? undefined : sent;
    const operation = operationOf(request.method, url.pathname);
    if (operation !== undefined) assert.ok(sentFits(operation, request.headers, text), `the client sent what is not described: ${text?.slice(0, 500)}`);
    request.headers.set('Authorization', `Bearer ${this.token}`);
    const response = await fetch(this.#daemon.api + url.pathname + url.search, {
      method: request.method, headers: request.headers, ...(text === undefined ? {} : { body: text }),
    });
    const answer = await answerOf(response);
    checkAnswer(operation, answer);
    return new Response(response.status === 304 ? null : answer.text, { status: response.status, headers: response.headers });
  }

  /** Send anything. `key`: null for none, a new one unless given; `body` is made JSON, `text` is sent as it is. */
  async ask(method: string, path: string, raw: Raw = {}): Promise<Reply> {
    const headers: Record<string, string> = {};
    const token = raw.token === undefined ? this.token : raw.token;
    if (token !== null) headers['Authorization'] = `Bearer ${token}`;
    if ((method === 'POST' || method === 'DELETE') && raw.key !== null) headers['Idempotency-Key'] = raw.key ?? newKey();
    const body = raw.text ?? (raw.body === undefined ? undefined : JSON.stringify(raw.body));
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const response = await fetch(this.#daemon.api + path, { method, headers: { ...headers, ...raw.headers }, ...(body === undefined ? {} : { body: body as string }) }); // bytes too: their types differ between Node and the browser
    const answer = await answerOf(response);
    if (method !== 'HEAD' && method !== 'OPTIONS') checkAnswer(operationOf(method, path), answer);
    const json: any = /[/+]json/.test(answer.headers.get('content-type') ?? '') && answer.text !== '' ? JSON.parse(answer.text) : undefined;
    return { ...answer, json, problem: json };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.ask('GET', path, { headers });
  }

  post(path: string, body: unknown, key: string = newKey()): Promise<Reply> {
    return this.ask('POST', path, { body, key });
  }

  /** The refusal of a request: its status and outcome are as given. */
  async refused(outcome: string, method: string, path: string, raw: Raw = {}): Promise<Problem> {
    const { problem, text } = await this.ask(method, path, raw);
    assert.equal(problem?.outcome, outcome, text);
    return problem;
  }
}

export function ok<T>(result: { data?: T; error?: unknown }): T {
  assert.ok(result.data !== undefined, `refused: ${JSON.stringify(result.error)}`);
  return result.data;
}

/** The operator's request, at the control socket, without a token. */
export function asOperator(daemon: Daemon, method: string, path: string, body?: unknown): Promise<Reply> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { ...(method === 'GET' ? {} : { 'Idempotency-Key': newKey() }), ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }) };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: daemon.control, method, path, headers, agent: false }, response => {
      let answered = '';
      response.setEncoding('utf8').on('data', piece => { answered += piece; }).on('end', () => {
        const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string]);
        const answer = { status: response.statusCode!, headers: new Headers(named), text: answered };
        try {
          checkAnswer(operationOf(method, path), answer);
          const json: any = answered === '' ? undefined : JSON.parse(answered);
          resolve({ ...answer, json, problem: json });
        } catch (error) {
          reject(error);
        }
      });
    });
    asked.on('error', reject).end(text);
  });
}
