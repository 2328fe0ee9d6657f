// The real daemon in a process of its own: fresh directory, free ports, its own keys.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const issuer = 'https://issuer.test';
const audience = 'evidenced-test';

/** A directory with `evidenced` and `evidencectl` of one build. */
const programs = resolve(process.env['EVIDENCED_BIN'] ?? 'build/test');

/** Of the daemon's log: one JSON line each. */
type LogLine = { event: string } & Record<string, unknown>;

const generous = { 'subject-rate': '1000000', 'subject-burst': '1000000', 'subject-in-flight': '10000' };

type Waiting = { event: string; found: (line: LogLine) => void; ended: (why: Error) => void };

// No daemon and no data outlive the test that made them, however that ends, but for SIGKILL.
const alive = new Set<ChildProcess>(), directories = new Set<string>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.stdout.on('error', () => process.exit(1)); // nobody listens any more

/** One process: what it says, and who waits for what it says. */
class Run {
  readonly child: ChildProcess;
  readonly #waiting: Waiting[] = [];
  #tail: string[] = []; // the last lines of its log
  told = false; // to end

  constructor(flags: string[], environment: Record<string, string>) {
    const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EVIDENCED_')));
    this.child = spawn(join(programs, 'evidenced'), flags, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...own, ...environment } });
    alive.add(this.child);
    const lines = createInterface({ input: this.child.stderr! });
    lines.on('line', line => this.#read(line));
    lines.on('close', () => {
      for (const { event, ended } of this.#waiting.splice(0)) ended(new Error(`the daemon ended before ${event}:\n${this.#tail.join('\n')}`));
    });
    this.child.on('exit', (status, signal) => {
      alive.delete(this.child);
      if (!this.told) console.error(`the daemon ended with ${signal ?? status}, untold:\n${this.#tail.join('\n')}`);
    });
  }

  logged(event: string): Promise<LogLine> {
    return new Promise((found, ended) => this.#waiting.push({ event, found, ended }));
  }

  #read(text: string): void {
    this.#tail = [...this.#tail.slice(-40), text];
    let line: LogLine;
    try {
      line = JSON.parse(text) as LogLine;
    } catch {
      return;
    }
    const at = this.#waiting.findIndex(({ event }) => event === line.event);
    if (at >= 0) this.#waiting.splice(at, 1)[0]!.found(line);
  }
}

export class Daemon {
  readonly #directory = mkdtempSync(join(tmpdir(), 'evidenced-http-'));
  readonly #options: Record<string, string>;
  #run: Run | undefined;
  api = '';
  admin = '';

  private constructor(options: Record<string, string>) {
    directories.add(this.#directory);
    this.#options = {
      listen: '127.0.0.1:0', 'admin-listen': '127.0.0.1:0', data: join(this.#directory, 'data'), 'free-mib': '64',
      'drain-seconds': '0', 'token-jwks': join(this.#directory, 'jwks.json'), 'token-issuer': issuer,
      'token-audience': audience, ...generous, ...options,
    };
    this.#evidencectl('key', 'new', '--key', join(this.#directory, 'key.json'), '--jwks', join(this.#directory, 'jwks.json'));
  }

  /** A fresh one that listens. Options as the daemon's flags, without the dashes. */
  static async start(options: Record<string, string> = {}, environment: Record<string, string> = {}): Promise<Daemon> {
    const daemon = new Daemon(options);
    await daemon.restart(environment);
    return daemon;
  }

  /** Run again on the same data, on other ports. */
  async restart(environment: Record<string, string> = {}): Promise<void> {
    const flags = Object.entries(this.#options).flatMap(([name, value]) => [`--${name}`, value]);
    const run = new Run(flags, environment);
    run.told = environment['EVIDENCED_CRASH_AT'] !== undefined;
    this.#run = run;
    const { api_port: apiPort, admin_port: adminPort } = await run.logged('listening');
    this.api = `http://127.0.0.1:${apiPort}`;
    this.admin = `http://127.0.0.1:${adminPort}`;
  }

  /** The socket the operator asks at. */
  get control(): string {
    return join(this.#options['data']!, 'control.sock');
  }

  /** The next line of this event. */
  logged(event: string): Promise<LogLine> {
    return this.#run!.logged(event);
  }

  signal(name: NodeJS.Signals): void {
    this.#run!.told = true;
    this.#run!.child.kill(name);
  }

  /** Its exit status, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals> {
    const { child } = this.#run!;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? child.signalCode!;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** End it and forget its data. */
  async done(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
    directories.delete(this.#directory);
  }

  /** A token good for an hour. A subject that is a UUID is the investigator's id. */
  token(subject: string = randomUUID(), scope = ''): string {
    return this.#evidencectl('token', '--key', join(this.#directory, 'key.json'), '--issuer', issuer, '--audience', audience,
      '--subject', subject, ...(scope === '' ? [] : ['--scope', scope])).trim();
  }

  #evidencectl(...words: string[]): string {
    return execFileSync(join(programs, 'evidencectl'), words, { encoding: 'utf8' });
  }
}
