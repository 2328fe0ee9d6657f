// What the demo says: steps, sentences, a table. Colours only on a terminal, and not when NO_COLOR is set.

const coloured = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text);
export const bold = paint('1');
export const dim = paint('2');
const green = paint('32');
const red = paint('31');

const WIDTH = 92;

/** Something the demo found wrong: a sentence for the person who watches. */
export class Fault extends Error {}

export function expect(condition, sentence) {
  if (!condition) throw new Fault(sentence);
}

export function line(text = '') {
  process.stdout.write(text + '\n');
}

function wrapped(text, indent, first) {
  const lines = [];
  let current = first;
  for (const word of text.split(/\s+/)) {
    if (current.trim() !== '' && current.length + word.length + 1 > WIDTH) {
      lines.push(current);
      current = ' '.repeat(indent) + word;
    } else {
      current += (current.endsWith(' ') || current === '' ? '' : ' ') + word;
    }
  }
  return [...lines, current].join('\n');
}

let steps = 0;

/** A new step of the story. */
export function step(title) {
  line(`\n${bold(`${++steps}. ${title}`)}`);
}

/** A sentence or two about it. */
export function say(text) {
  line(wrapped(text, 3, '   '));
}

/** What was checked and holds. */
export function holds(text) {
  line(wrapped(text, 6, '   ok ').replace('ok', green('ok')));
}

/** What was checked and does not hold. */
export function fails(text) {
  line(wrapped(text, 6, '   NO ').replace('NO', red('NO')));
}

/** rows: [label, number, remark?]; null is an empty line. */
export function table(title, rows) {
  const labels = Math.max(...rows.map((row) => (row === null ? 0 : row[0].length)));
  line(`   ${bold(title)}`);
  for (const row of rows) {
    if (row === null) {
      line();
      continue;
    }
    const [label, number, remark = ''] = row;
    line(`     ${label.padEnd(labels)}  ${number.toLocaleString('en-GB').padStart(7)}  ${dim(remark)}`.trimEnd());
  }
}

export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString('en-GB')} ${number === 1 ? one : many}`;
}

export function good(text) {
  line(`\n${bold(green(text))}`);
}

export function bad(text) {
  line(`\n${bold(red(text))}`);
}
