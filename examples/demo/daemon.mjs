// The daemon as a process of its own: made in a fresh directory, started, stopped, and started again whenever it was
// killed, as a service manager would.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import { Fault } from './tell.mjs';

const ISSUER = 'evidenced-demo';
const AUDIENCE = 'evidenced';
const STOP_MS = 20000;
const START_MS = 30000;

/** A key pair in directory/key.json and directory/jwks.json. */
export function makeKeys(binaries, directory) {
  ctl(binaries, ['key', 'new', '--key', `${directory}/key.json`, '--jwks', `${directory}/jwks.json`]);
}

/** A token for this subject. */
export function mintToken(binaries, directory, subject, { scope = '', seconds = 3600 } = {}) {
  return ctl(binaries, ['token', '--key', `${directory}/key.json`, '--issuer', ISSUER, '--audience', AUDIENCE,
    '--subject', subject, '--scope', scope, '--ttl', String(seconds)]).trim();
}

function ctl(binaries, args) {
  try {
    return execFileSync(resolve(binaries, 'evidencectl'), args,
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Fault(`evidencectl ${args[0]} did not work: ${(error.stderr || error.message).trim()}`);
  }
}

/** The settings both the demo and `make run` have in common; paths are relative to where the daemon starts. */
export function settings(directory, api, admin) {
  return {
    'listen': api,
    'admin-listen': admin,
    'data': `${directory}/data`,
    'token-jwks': `${directory}/jwks.json`,
    'token-issuer': ISSUER,
    'token-audience': AUDIENCE,
    'drain-seconds': '0',
    'free-mib': '64',
  };
}

export class Daemon {
  /** extra: more settings. Nothing runs yet. */
  constructor(binaries, directory, extra = {}) {
    this.binary = resolve(binaries, 'evidenced');
    this.directory = directory;
    this.extra = extra;
    this.kills = 0;
    this.port = 0;
    this.log = [];
    this.child = null;
    this.waiting = []; // who asked to be told when it is up
    this.fault = null; // why it will not come back
    mkdirSync(directory, { recursive: true });
    process.on('exit', () => this.destroy());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  }

  /** crashAt: the places at which it is to kill itself, for this start and the starts after its deaths, in turn. */
  async start(crashAt = []) {
    this.crashAt = [...crashAt];
    await this.#launch();
  }

  /** Resolves when it listens; at once when it does. */
  whenUp() {
    if (this.port !== 0) return Promise.resolve();
    if (this.fault !== null) return Promise.reject(this.fault);
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  /** SIGTERM; resolves when it has ended by itself. */
  async stop() {
    await this.whenUp();
    this.stopping = true;
    const ended = this.ended;
    const impatience = setTimeout(() => this.child?.kill('SIGKILL'), STOP_MS);
    this.child.kill('SIGTERM');
    const { status, signal } = await ended;
    clearTimeout(impatience);
    if (status !== 0) throw new Fault(`The daemon was asked to stop and ended with ${signal ?? `status ${status}`}.`);
  }

  /** kill -9. It is started again at once. */
  kill() {
    this.child?.kill('SIGKILL');
  }

  /** Whatever happens to us, nothing is left running. */
  destroy() {
    this.stopping = true;
    this.child?.kill('SIGKILL');
  }

  async #launch() {
    const options = { ...settings(this.directory, '127.0.0.1:0', '127.0.0.1:0'), ...this.extra };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EVIDENCED_')));
    const crashAt = this.crashAt.shift();
    if (crashAt !== undefined) env.EVIDENCED_CRASH_AT = crashAt;
    this.stopping = false;
    const child = spawn(this.binary, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => resolve({ status: null, signal: null, error }));
      child.on('close', (status, signal) => resolve({ status, signal }));
    });
    this.ended.then((end) => this.#onEnd(child, end));
    await this.#listening(child);
  }

  #listening(child) {
    return new Promise((resolve, reject) => {
      const impatience = setTimeout(() => reject(new Fault('The daemon does not start listening.')), START_MS);
      createInterface({ input: child.stderr }).on('line', (text) => {
        this.log.push(text);
        if (this.log.length > 200) this.log.shift();
        if (!text.includes('"event":"listening"')) return;
        clearTimeout(impatience);
        this.port = JSON.parse(text).api_port;
        for (const waiter of this.waiting.splice(0)) waiter.resolve();
        resolve();
      });
      this.ended.then(({ status, signal, error }) => {
        clearTimeout(impatience);
        reject(new Fault(`The daemon did not start: ${error?.message ?? this.log.at(-1) ?? signal ?? status}`));
      });
    });
  }

  /* Killed while it was up: that is what the story is about, and it is started again. Anything else is a fault. */
  async #onEnd(child, { status, signal }) {
    if (child !== this.child) return;
    const wasUp = this.port !== 0;
    this.port = 0;
    this.child = null;
    if (this.stopping || !wasUp) return;
    try {
      if (signal !== 'SIGKILL') throw new Fault(`The daemon ended by itself, with ${signal ?? `status ${status}`}.`);
      this.kills++;
      await this.#launch();
    } catch (fault) {
      this.fault = fault;
      for (const waiter of this.waiting.splice(0)) waiter.reject(fault);
    }
  }
}
