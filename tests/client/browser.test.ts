// The client where it belongs: two real tabs of a real browser, a page from one origin, the daemon on another.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { Daemon } from '../http/support/daemon.js';
import { Review } from '../http/support/review.js';
import type { Caller } from '../http/support/caller.js';

/** Debian's name, and those of others. */
const program = process.env['CHROMIUM'] ?? ['chromium', 'chromium-browser', 'google-chrome'].flatMap(name =>
  (process.env['PATH'] ?? '').split(delimiter).map(directory => join(directory, name))).find(path => existsSync(path));
const skip = program === undefined ? 'no chromium here: sh deploy/bootstrap check' : false;

const here = fileURLToPath(new URL('.', import.meta.url));
const compiled = join(here, 'page/page.js'), client = join(here, '../../package/dist');
const html = process.env['EVIDENCED_TEST_PAGE'] ?? 'tests/client/page/index.html';

let daemon: Daemon, pages: Server, browser: Browser, context: BrowserContext, origin: string;

function serve(path: string): { type: string; text: string } | null {
  if (path === '/') return { type: 'text/html', text: readFileSync(html, 'utf8') };
  const file = path === '/page/page.js' ? compiled : join(client, path.slice('/client/'.length));
  return existsSync(file) && file.endsWith('.js') ? { type: 'text/javascript', text: readFileSync(file, 'utf8') } : null;
}

before(async () => {
  if (skip) return;
  pages = createServer((request, response) => {
    const found = serve(new URL(request.url!, 'http://page').pathname);
    response.writeHead(found === null ? 404 : 200, { 'content-type': found?.type ?? 'text/plain' }).end(found?.text);
  });
  await new Promise<void>(listening => pages.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  daemon = await Daemon.start({ 'allowed-origins': origin });
  browser = await chromium.launch({
    executablePath: program!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  await daemon?.done();
  pages?.close();
});

type Desk = { review: Review; ada: Caller };

async function setUp(): Promise<Desk> {
  const questions = ['dose', 'blinding', 'remarks'].map(id => ({ id, label: id, kind: 'text' as const }));
  const review = await Review.create(daemon);
  await review.addForm({ target: 1 }, questions);
  await review.addStudies([{ title: 'A study' }]);
  context = await browser.newContext();
  return { review, ada: await review.member('reviewer') };
}

/** hears: of the other tabs of this browser. */
function address({ review, ada }: Desk, hears = true): string {
  const settings = { api: daemon.api, token: ada.token, person: ada.id, project: review.project, study: review.studies[0], form: review.form, stage: review.stage, hears };
  return `${origin}/#${encodeURIComponent(JSON.stringify(settings))}`;
}

const is = (page: Page, status: string) => page.waitForSelector(`body[data-status="${status}"]`, { timeout: 20_000 });
const has = (page: Page, what: string, value: string) => page.waitForSelector(`body[data-${what}="${value}"]`, { timeout: 20_000 });
const valuesOf = (page: Page) => page.$$eval('input', inputs => inputs.map(input => input.value));
const valuesAre = (page: Page, values: string[]) =>
  page.waitForFunction(wanted => JSON.stringify([...document.querySelectorAll('input')].map(input => input.value)) === wanted, JSON.stringify(values), { timeout: 20_000 });

async function open(desk: Desk, hears = true): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address(desk, hears));
  await page.waitForSelector('body[data-copies]', { timeout: 20_000 });
  return page;
}

const answersOf = async ({ review, ada }: Desk) =>
  Object.fromEntries(((await ada.get(review.session())).json.answers as { question: string; value: string }[]).map(answer => [answer.question, answer.value]));

test('two tabs: one types, the other is read only, takes over with all of it, and the first only reads', { skip }, async () => {
  const desk = await setUp();
  const a = await open(desk), b = await open(desk);
  await a.fill('#dose', '1');
  await is(a, 'saved');
  await is(b, 'readOnly');
  await valuesAre(b, ['1', '', '']);
  assert.equal(await b.$eval('#dose', input => (input as HTMLInputElement).readOnly), true);
  await a.fill('#blinding', 'double'); // the other tab asks before this is sent, and it is sent then
  await b.click('#take-over');
  await is(a, 'readOnly');
  await valuesAre(b, ['1', 'double', '']);
  assert.deepEqual(await b.$$eval('#copies li', items => items.length), 0);
  await b.fill('#remarks', 'of the second tab');
  await is(b, 'saved');
  await b.click('#save');
  await has(b, 'saved', 'Done');
  await valuesAre(a, ['1', 'double', 'of the second tab']);
  await b.reload();
  await is(b, 'idle');
  assert.deepEqual(await valuesOf(b), ['1', 'double', 'of the second tab']);
  assert.deepEqual(await answersOf(desk), { dose: '1', blinding: 'double', remarks: 'of the second tab' });
  await context.close();
});

test('tabs that do not hear of each other: the late edit is a copy, empty fields overwrite nothing, all is there after Save', { skip }, async () => {
  const desk = await setUp();
  const a = await open(desk, false), b = await open(desk, false);
  await a.fill('#dose', '1');
  await is(a, 'saved');
  await b.fill('#blinding', 'raced');
  await is(b, 'readOnly');
  await b.click('#take-over');
  await valuesAre(b, ['1', '', '']);
  await b.fill('#blinding', 'double');
  await is(b, 'saved');
  await a.fill('#dose', 'typed too late');
  await is(a, 'readOnly');
  await b.click('#save');
  await has(b, 'saved', 'Done');
  assert.deepEqual(await answersOf(desk), { dose: '1', blinding: 'double' });
  await has(b, 'copies', '2');
  const late = b.locator('#copies li', { hasText: 'typed too late' });
  assert.equal(await late.getAttribute('data-where'), 'service');
  await late.locator('button').click();
  await valuesAre(b, ['typed too late', 'double', '']);
  await b.click('#save');
  await has(b, 'saved', 'StaleBase'); // it was typed before the answer that is saved now: both are shown
  assert.equal(await b.getAttribute('#mine', 'data-theirs'), '["1"]');
  await b.click('#mine');
  await b.click('#save');
  await has(b, 'saved', 'Done');
  await a.click('#reload');
  await valuesAre(a, ['typed too late', 'double', '']);
  await b.reload();
  await is(b, 'idle');
  assert.deepEqual(await valuesOf(b), ['typed too late', 'double', '']);
  assert.deepEqual(await answersOf(desk), { dose: 'typed too late', blinding: 'double' });
  await context.close();
});

test('a duplicated tab is another tab, a reloaded one is the same', { skip }, async () => {
  const desk = await setUp();
  const a = await open(desk);
  await a.fill('#dose', '1');
  await is(a, 'saved');
  const idOf = (page: Page) => page.$eval('body', body => body.dataset['tab']);
  const first = await idOf(a);
  // A page that is opened by another one gets a copy of its session storage, as a duplicated tab does.
  const [b] = await Promise.all([context.waitForEvent('page'), a.evaluate(() => void window.open(location.href))]);
  await is(b, 'readOnly');
  assert.equal(await b.evaluate(() => window.opener !== null), true);
  assert.notEqual(await idOf(b), first);
  await a.reload();
  await is(a, 'saved');
  assert.equal(await idOf(a), first);
  await context.close();
});

test('a tab that is closed in the middle of a word leaves it to the next one', { skip }, async () => {
  const desk = await setUp();
  const a = await open(desk);
  await a.fill('#dose', '1');
  await is(a, 'saved');
  await context.setOffline(true);
  await a.fill('#blinding', 'half a wo');
  await is(a, 'offline');
  await a.close();
  await context.setOffline(false);
  const b = await open(desk);
  await is(b, 'saved');
  assert.deepEqual(await valuesOf(b), ['1', 'half a wo', '']);
  const { json } = await desk.ada.get(`${desk.review.session()}/draft`);
  assert.equal(json.content.answers.length, 2);
  await context.close();
});

test('offline, and online again: what was typed meanwhile is saved', { skip }, async () => {
  const desk = await setUp();
  const a = await open(desk);
  await context.setOffline(true);
  await a.fill('#dose', '1');
  await is(a, 'offline');
  await a.fill('#remarks', 'in the train');
  await context.setOffline(false);
  await is(a, 'saved');
  await a.click('#save');
  await has(a, 'saved', 'Done');
  assert.deepEqual(await answersOf(desk), { dose: '1', remarks: 'in the train' });
  await context.close();
});
