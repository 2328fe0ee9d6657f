// What a page's steps are, and that a drift is noticed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Likeness, laidOut, rewritten, stepsOf } from './page.mjs';

const PAGE = `# A page
\`\`\`sh
one
\`\`\`

\`\`\`text
1
\`\`\`

\`\`\`sh
two
\`\`\`
Words between.
\`\`\`json
{"not": "shown"}
\`\`\`
\`\`\`sh
three
\`\`\`
\`\`\`json
{
  "a": 1
}
\`\`\`
The end.
`;

test('a step is a block of sh, and the block right behind it is what it prints', () => {
  assert.deepEqual(stepsOf(PAGE).map(({ line, command, language, shown }) => [line, command, language, shown]), [
    [2, 'one\n', 'text', '1\n'], [10, 'two\n', null, null], [17, 'three\n', 'json', '{\n  "a": 1\n}\n']]);
});

test('a block that is not closed is an error', () => {
  assert.throws(() => stepsOf('text\n```sh\none\n'), /line 2/);
});

const A = '11111111-1111-4111-8111-111111111111', B = '22222222-2222-4222-8222-222222222222';
const C = '33333333-3333-4333-8333-333333333333';

/* [name, what is alike?, pairs of shown and printed in the order of the page] */
const cases = [
  ['the same text is alike', true, ['a 1\n', 'a 1\n']],
  ['another word is not', false, ['a 1\n', 'a 2\n']],
  ['a line too many is not', false, ['a\n', 'a\nb\n']],
  ['a line too few is not', false, ['a\nb\n', 'a\n']],
  ['another id is alike', true, [`${A}\n`, `${B}\n`]],
  ['an id that was another one before is not', false, [`${A}\n`, `${B}\n`], [`${A}\n`, `${C}\n`]],
  ['one id in the place of two is not', false, [`${A} ${B}\n`, `${C} ${C}\n`]],
  ['two ids in the place of one are not', false, [`${A} ${A}\n`, `${B} ${C}\n`]],
  ['another time is alike', true, ['2026-03-01T09:30:00.000Z\n', '2027-04-02T10:31:01.001Z\n']],
  ['another date is not', false, ['2026-03-01\n', '2026-03-02\n']],
  ['another stamp is alike', true, ['"117708988519743489"\n', '"117708988519743490"\n']],
  ['a stamp that was another one before is not', false, ['117708988519743489 117708988519743489\n',
    '117708988519743490 117708988519743491\n']],
  ['an id in the place of a stamp is not', false, [`${A}\n`, '117708988519743490\n']],
  ['another port is alike', true, ['http://127.0.0.1:8080/\n', 'http://127.0.0.1:40001/\n']],
];

for (const [name, alike, ...pairs] of cases) {
  test(name, () => {
    const likeness = new Likeness();
    const found = pairs.map(([shown, printed]) => likeness.differ('text', shown, printed));
    assert.equal(found.every((wrong) => wrong === null), alike, String(found));
  });
}

const inJson = [
  ['the layout of JSON does not matter', true, '{\n  "a": [1, 2]\n}\n', '{"a":[1,2]}\n'],
  ['another number in JSON matters', false, '{"a": 1}', '{"a": 2}'],
  ['a member too many matters', false, '{"a": 1}', '{"a": 1, "b": null}'],
  ['a member too few matters', false, '{"a": 1, "b": null}', '{"a": 1}'],
  ['the order of a list matters', false, '[1, 2]', '[2, 1]'],
  ['a text in the place of a number matters', false, '{"a": "1"}', '{"a": 1}'],
  ['an empty list in the place of an object matters', false, '{"a": {}}', '{"a": []}'],
  ['ids in JSON are ids', true, `{"a": "${A}"}`, `{"a": "${B}"}`],
  ['what is no JSON is not alike', false, '{"a": 1}', 'curl: (7) failed'],
];

for (const [name, alike, shown, printed] of inJson) {
  test(name, () => assert.equal(new Likeness().differ('json', shown, printed) === null, alike));
}

test('a step without a block behind it prints nothing', () => {
  assert.equal(new Likeness().differ(null, null, ''), null);
  assert.match(new Likeness().differ(null, null, 'oh\n'), /prints: oh/);
});

test('a page that is rewritten shows what was printed, and nothing else has changed', () => {
  const steps = stepsOf(PAGE);
  const page = rewritten(PAGE, steps, ['1\n2\n', '', '{"a":2}\n']);
  assert.deepEqual(stepsOf(page).map(({ shown }) => shown), ['1\n2\n', null, '{"a": 2}\n']);
  assert.equal(rewritten(PAGE, steps, ['1\n', '', '{"a":1}\n']).replace('{"a": 1}', '{\n  "a": 1\n}'), PAGE);
});

test('JSON is laid out in lines that fit', () => {
  const value = { short: [1, 2], long: Array.from({ length: 12 }, (_, i) => ({ name: `number ${i}`, path: ['a', 'b'] })) };
  const text = laidOut(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.ok(text.split('\n').every((line) => line.length <= 116));
  assert.ok(text.includes('"short": [1, 2],\n'));
});
