// Runs a page: its commands one after the other, in one shell and a fresh directory, and compares what they print with
// what the page shows. Closes with `N passed, N failed`, a test a step; --write puts what they print into the page.
//
//   node tests/tutorial/run.mjs PAGE BINARIES [TOTALS]
//   node tests/tutorial/run.mjs --write PAGE BINARIES

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Likeness, rewritten, stepsOf } from './page.mjs';

const HANGS_MS = 120000; // only a page that hangs takes as long
const MARK = '\x1e'; // between the steps' outputs

/* Stops with the first command that fails, as whoever reads the page would. */
const scriptOf = (steps) => `exec 2>&1\nset -e\n${steps.map(({ command }) => `printf '${MARK}'\n${command}`).join('')}`;

/* Everything the page started ends with it. */
function end(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** { printed: a text for each step that was begun, status }. */
function play(steps, directory, binaries) {
  const env = { PATH: `${binaries}:${process.env.PATH}`, HOME: directory, LANG: 'C.UTF-8' };
  const shell = spawn('/bin/sh', ['-c', scriptOf(steps)],
    { cwd: directory, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const hangs = setTimeout(() => end(shell.pid), HANGS_MS);
  process.once('exit', () => end(shell.pid));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  let text = '';
  shell.stdout.setEncoding('utf8').on('data', (piece) => { text += piece; });
  shell.on('exit', () => end(shell.pid));
  return new Promise((done, fail) => {
    shell.on('error', fail);
    shell.on('close', (status, signal) => {
      clearTimeout(hangs);
      done({ printed: text.split(MARK).slice(1), status: status ?? signal });
    });
  });
}

/* One line for each step that is wrong. The number of those that are right. */
function judge(page, steps, { printed, status }) {
  const likeness = new Likeness();
  let right = 0;
  steps.forEach((step, at) => {
    const isLast = at === printed.length - 1;
    let wrong = at < printed.length ? likeness.differ(step.language, step.shown, printed[at]) : 'It was not reached.';
    if (isLast && status !== 0) wrong = `It ends with ${status} and prints:\n${printed[at]}`;
    if (wrong === null) right++;
    else process.stdout.write(`not ok ${page}:${step.line}: ${step.command.split('\n')[0]}\n  ${wrong}\n`);
  });
  return right;
}

const write = process.argv[2] === '--write';
const [page, binaries, totals] = process.argv.slice(write ? 3 : 2);
if (binaries === undefined) {
  process.stderr.write('usage: node tests/tutorial/run.mjs [--write] PAGE BINARIES [TOTALS]\n');
  process.exit(2);
}
const text = readFileSync(page, 'utf8');
const steps = stepsOf(text);
const directory = mkdtempSync(join(tmpdir(), 'evidenced-tutorial-'));
try {
  const played = await play(steps, directory, resolve(binaries));
  const right = judge(page, steps, played);
  if (write && right < steps.length && played.status === 0) {
    writeFileSync(page, rewritten(text, steps, played.printed));
    process.stdout.write(`${page} is written anew.\n`);
  }
  if (totals !== undefined) {
    mkdirSync(dirname(totals), { recursive: true });
    writeFileSync(totals, `${right} ${steps.length - right} 0\n`);
  }
  process.stdout.write(`${right} passed, ${steps.length - right} failed\n`);
  const isRight = right === steps.length && right > 0;
  process.exitCode = isRight || (write && played.status === 0) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
