// make run, the part before the daemon takes over: keys, a project with two hundred studies (both made once), a port
// that is free, a token, and what to try. Leaves the daemon's configuration in DIRECTORY/evidenced.conf.
//
//   node examples/demo/run.mjs BINARIES DIRECTORY [PORT]

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { Daemon, makeKeys, mintToken, settings } from './daemon.mjs';
import { Review } from './review.mjs';
import { Fault, bold, dim, line } from './tell.mjs';

const USUAL_PORT = 8080;
const SUBJECT = 'ada';
const TOKEN_DAYS = 30;

const example = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

function isServing(socketPath) {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath, () => resolve(true));
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
  });
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function freePort(from) {
  for (let port = from; port < from + 100 && port < 65536; port++) {
    if (await isFree(port)) return port;
  }
  throw new Fault(`No port from ${from} on is free.`);
}

async function choosePort(wish) {
  if (wish === undefined || wish === '') {
    const port = await freePort(USUAL_PORT);
    if (port !== USUAL_PORT) line(`Port ${USUAL_PORT} is taken, so this serves on ${port}. PORT=N chooses another.`);
    return port;
  }
  const port = Number(wish);
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Fault(`PORT=${wish} is no port.`);
  if (await isFree(port)) return port;
  const other = await freePort(Math.max(port, USUAL_PORT));
  throw new Fault(`Port ${port} is taken, or not yours to use. Try: make run PORT=${other}`);
}

/* Over HTTP, from a daemon that runs only for this, on a port of its own. */
async function makeProject(binaries, directory) {
  const daemon = new Daemon(binaries, directory);
  const review = new Review(daemon);
  try {
    await daemon.start();
    await review.createProject(mintToken(binaries, directory, SUBJECT, { scope: 'evidenced:create-project' }),
      'Supported self-management for adults with asthma');
    const [administrator] = await review.readAll(review.admin, `${review.path}/members`);
    await review.join(administrator.investigatorId, ['admin', 'reviewer']);
    await review.publishForm(example('form.json'), 'Data extraction');
    await review.importStudies(example('studies.json'));
    const [first] = await review.readAll(review.admin, `${review.path}/studies`); // as a list shows them
    await daemon.stop();
    const { path, form, stage, formVersion } = review;
    return { path, form, stage, formVersion, study: first.id, key: randomUUID() };
  } finally {
    review.done();
    daemon.destroy();
  }
}

/* What is half made is made again: it is known by the file that is written last. */
async function projectOf(binaries, directory) {
  const file = `${directory}/project.json`;
  const data = `${directory}/data`;
  if (existsSync(file) && existsSync(data)) return JSON.parse(readFileSync(file, 'utf8'));
  line('Making a project to try things out with …');
  rmSync(data, { recursive: true, force: true });
  const project = await makeProject(binaries, directory);
  writeFileSync(`${file}.new`, JSON.stringify(project, null, 2));
  renameSync(`${file}.new`, file);
  return project;
}

function tell(project, port, token, directory) {
  const session = `$API/studies/${project.study}/forms/${project.form}/session`;
  const body = JSON.stringify({ stage: project.stage, formVersion: project.formVersion, baseVersion: null, draft: null,
    answers: [{ question: 'eligible', value: 'include', baseRevision: null }] });
  line(`\n${bold(`evidenced serves http://127.0.0.1:${port}`)}, with a project of 200 invented studies.`);
  line(`Its data stays in ${directory}; delete that to start afresh. Ctrl-C stops it.`);
  line(`\nIn another terminal, as ${SUBJECT}, who is its administrator and a reviewer:\n`);
  line(`export TOKEN=${token}`);
  line(`export API=http://127.0.0.1:${port}${project.path}`);
  line(`\n${dim('# the first two studies')}`);
  line(`curl -sS -w '\\n' -H "Authorization: Bearer $TOKEN" "$API/studies?limit=2"`);
  line(`\n${dim('# save an answer on the first one; send it twice, and the second answer is a replay of the first')}`);
  line(`curl -sSi -w '\\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ` +
    `-H 'Idempotency-Key: ${project.key}' -d '${body}' "${session}/save"`);
  line(`\n${dim('# read it back')}`);
  line(`curl -sS -w '\\n' -H "Authorization: Bearer $TOKEN" "${session}"`);
  line(`\n${dim('What follows is the daemon’s log, one line for each request.')}\n`);
}

async function prepare(binaries, directory, wish) {
  mkdirSync(directory, { recursive: true });
  if (await isServing(`${directory}/data/control.sock`)) {
    throw new Fault(`Another daemon serves from ${directory} already: see the terminal it was started in.`);
  }
  const port = await choosePort(wish);
  const admin = await freePort(port === 65535 ? USUAL_PORT : port + 1);
  if (!existsSync(`${directory}/key.json`) || !existsSync(`${directory}/jwks.json`)) {
    for (const name of ['key.json', 'jwks.json']) rmSync(`${directory}/${name}`, { force: true });
    makeKeys(binaries, directory);
  }
  const project = await projectOf(binaries, directory);
  const options = settings(directory, `127.0.0.1:${port}`, `127.0.0.1:${admin}`);
  writeFileSync(`${directory}/evidenced.conf`,
    Object.entries(options).map(([name, value]) => `${name} = ${value}\n`).join(''));
  tell(project, port, mintToken(binaries, directory, SUBJECT,
    { scope: 'evidenced:create-project', seconds: TOKEN_DAYS * 86400 }), directory);
}

const [binaries, directory, port] = process.argv.slice(2);
if (directory === undefined) {
  process.stderr.write('usage: node examples/demo/run.mjs BINARIES DIRECTORY [PORT]\n');
  process.exit(2);
}
try {
  await prepare(binaries, directory, port);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  process.stderr.write(`make run: ${error.message}\n`);
  process.exitCode = 1;
}
