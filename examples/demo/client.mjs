// One person's way to the daemon: plain HTTP, a bearer token, connections kept open. Nothing is ever sent twice here;
// what to do without an answer is for the caller to decide.

import http from 'node:http';
import net from 'node:net';

const PATIENCE_MS = 30000;

export class Client {
  /** port: a function, as the daemon may come back on another one. */
  constructor(port, token) {
    this.port = port;
    this.token = token;
    this.agent = new http.Agent({ keepAlive: true });
  }

  #headers(body, key, more) {
    const headers = { Authorization: `Bearer ${this.token}`, ...more };
    if (key) headers['Idempotency-Key'] = key;
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
      headers['Content-Length'] = Buffer.byteLength(body);
    }
    return headers;
  }

  /** { status, replayed, retryAfterMs, bytes, json }, or null when the connection broke before the whole answer. */
  ask(method, path, { body, key, headers } = {}) {
    return new Promise((resolve) => {
      const request = http.request({ host: '127.0.0.1', port: this.port(), agent: this.agent, method, path,
        headers: this.#headers(body, key, headers), timeout: PATIENCE_MS });
      const broken = () => resolve(null);
      request.on('error', broken).on('timeout', () => request.destroy());
      request.on('response', (response) => {
        const pieces = [];
        response.on('data', (piece) => pieces.push(piece)).on('error', broken).on('aborted', broken);
        response.on('end', () => response.complete && resolve(answerOf(response, Buffer.concat(pieces))));
      });
      request.end(body);
    });
  }

  /** Sends the whole request, and hangs up without waiting for the answer. */
  sendAndHangUp(path, body, key) {
    const head = Object.entries({ Host: `127.0.0.1:${this.port()}`, ...this.#headers(body, key) })
      .map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.port(), '127.0.0.1');
      socket.on('error', reject);
      socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${body}`, () => {
        socket.destroy();
        resolve();
      });
    });
  }

  done() {
    this.agent.destroy();
  }
}

function answerOf(response, bytes) {
  let json = null;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    // an answer that is no JSON is the caller's to judge, by its status
  }
  return {
    status: response.statusCode,
    replayed: response.headers['idempotency-replayed'] === 'true',
    retryAfterMs: Number(response.headers['retry-after'] ?? 0) * 1000,
    bytes,
    json,
  };
}
